// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE closed_forms
#include <boost/test/unit_test.hpp>

#include <sinter/profile/distribution/cluster_text.hpp>
#include <sinter/profile/distribution/plan.hpp>

/// Simulated steps beside what can be written down: times of each algorithm on one bucket, steps
/// without communication, means of the slowest of many workers; and what must grow or fall.
using namespace sinter;
using algorithm = reduction_algorithm;

static bool near(double a, double b, double relative = 1e-9) {
    return std::abs(a - b) <= relative * (std::abs(a) + std::abs(b)) / 2;
}

/// Half a second of computation, then one bucket: nothing can be hidden.
static training_profile one_bucket(double bytes) {
    training_profile p;
    p.batch = 8;
    p.launches = {{{0, 2e10}, {}}, {{0, 3e10}, {}}};
    p.buckets = {{{0, bytes}, 1, false}};
    p.parameter_bytes = bytes;
    return p;
}
/// A net of ten layers, whose buckets become final one after the other.
static training_profile ten_layers() {
    std::vector<layer_figures> layers;
    for (int i = 0; i < 10; ++i) layers.push_back({1e8 + 1e7 * i, 2e5 + 3e5 * i, 1e4});
    return training_profile::of_layers(layers, {.name = "ten layers", .batch = 32, .bucket_bytes = 1e6, .slots = 2});
}
static cluster_model cluster_of(int workers, algorithm a = algorithm::ring) {
    cluster_model m;
    m.workers = workers;
    m.algorithm = a;
    m.flops = 1e11;
    m.bandwidth = 1.25e9;
    m.latency = 20e-6;
    m.servers = 3;
    return m;
}
static constexpr int counts[] = {2, 3, 4, 7, 8, 16, 100, 128, 1000, 4096, 100'000};

BOOST_AUTO_TEST_CASE(a_ring) {
    for (int n : counts) {
        const double bytes = 4e6, m = 2.0 * (n - 1) / n * bytes / 1.25e9 + 2.0 * (n - 1) * 20e-6;
        const distribution_plan d = plan_distribution(one_bucket(bytes), cluster_of(n));
        BOOST_TEST(near(d.step, 0.5 + m), n << " workers: " << d.step << ", not " << 0.5 + m);
        BOOST_TEST(near(d.communication, m));
        BOOST_TEST(near(d.exposed, m));
        BOOST_TEST(near(d.compute, 0.5));
    }
}
BOOST_AUTO_TEST_CASE(halving_and_doubling) {
    for (int n : {2, 4, 8, 64, 1024, 65536}) {
        const double bytes = 4e6, rounds = std::log2(n);
        const double m = 2.0 * (n - 1) / n * bytes / 1.25e9 + 2 * rounds * 20e-6;
        BOOST_TEST(near(plan_distribution(one_bucket(bytes), cluster_of(n, algorithm::halving_doubling)).exposed, m));
    }
    // Six workers: two hand theirs over and get sums back, four exchange.
    const double m = 2 * (4e6 / 1.25e9 + 20e-6) + 2 * 0.75 * 4e6 / 1.25e9 + 4 * 20e-6;
    BOOST_TEST(near(plan_distribution(one_bucket(4e6), cluster_of(6, algorithm::halving_doubling)).exposed, m));
}
BOOST_AUTO_TEST_CASE(a_hierarchy) {
    cluster_model m = cluster_of(32, algorithm::hierarchical);
    m.workers_per_node = 8;
    m.node_bandwidth = 2e10;
    m.node_latency = 3e-6;
    const double bytes = 4e6, part = bytes / 8;
    // 8 rings share a link
    const double within = 2 * 7 * (part / 2e10 + 3e-6), between = 2 * 3 * (bytes / 4 / 1.25e9 + 20e-6);
    BOOST_TEST(near(plan_distribution(one_bucket(bytes), m).exposed, within + between));
    m.workers = 8;   // one node: its ring alone
    BOOST_TEST(near(plan_distribution(one_bucket(bytes), m).exposed, within));
    m.workers = 4;
    BOOST_TEST(near(plan_distribution(one_bucket(bytes), m).exposed, 2 * 3 * (bytes / 4 / 2e10 + 3e-6)));
    m.workers = 12;
    BOOST_CHECK_THROW(plan_distribution(one_bucket(bytes), m), option_error);
    m.workers_per_node = 1;   // nodes of one are a plain ring
    BOOST_TEST(near(plan_distribution(one_bucket(bytes), m).step,
                    plan_distribution(one_bucket(bytes), cluster_of(12)).step));
}
/// A node's workers send at once over its one link, but where their partners are in the node.
BOOST_AUTO_TEST_CASE(halving_and_doubling_over_nodes) {
    cluster_model m = cluster_of(16, algorithm::halving_doubling);
    m.workers_per_node = 4;
    m.node_bandwidth = 2e10;
    m.node_latency = 3e-6;
    const double bytes = 4e6;
    const double within = 2 * (0.75 * bytes / 2e10 + 2 * 3e-6),
        between = 2 * ((1 / 8. + 1 / 16.) * bytes * 4 / 1.25e9 + 2 * 20e-6);
    BOOST_TEST(near(plan_distribution(one_bucket(bytes), m).exposed, within + between));
}
BOOST_AUTO_TEST_CASE(parameter_servers) {
    for (int n : {2, 3, 16, 1000}) {   // three servers: two workers wait for their own links, others for the servers'
        const cluster_model m = cluster_of(n, algorithm::servers);
        const double one_way = std::max(1.0, n / 3.0) * 6e6 / 1.25e9 + 20e-6;
        BOOST_TEST(near(plan_distribution(one_bucket(6e6), m).exposed, 2 * one_way), n << " workers");
    }
    training_profile p = one_bucket(6e6);
    p.updates = {{{0, 1e10}, {}}};   // a tenth of a second by one worker, a thirtieth by three servers
    const distribution_plan d = plan_distribution(p, cluster_of(16, algorithm::servers));
    BOOST_TEST(near(d.exposed, 2 * (16 / 3.0 * 6e6 / 1.25e9 + 20e-6) + 0.1 / 3));
    BOOST_TEST(near(d.lone, 0.6));
    cluster_model none = cluster_of(4, algorithm::servers);
    none.servers = 0;
    BOOST_CHECK_THROW(plan_distribution(p, none), option_error);
}
BOOST_AUTO_TEST_CASE(adding_takes_time_in_the_reducing_half) {
    cluster_model m = cluster_of(4);
    m.sum_bandwidth = 1e9;
    BOOST_TEST(near(plan_distribution(one_bucket(4e6), m).exposed, 6 * (1e6 / 1.25e9 + 20e-6) + 3 * 1e6 / 1e9));
}
BOOST_AUTO_TEST_CASE(lists_of_rows_are_gathered) {
    training_profile p = one_bucket(4e6);
    p.buckets[0].rows = true;
    BOOST_TEST(near(plan_distribution(p, cluster_of(5)).exposed, 4 * (4e6 / 1.25e9 + 20e-6)));
    // parameters; lists of four others
    BOOST_TEST(near(plan_distribution(p, cluster_of(5)).worker_bytes, 4e6 + 4 * 4e6));
}
BOOST_AUTO_TEST_CASE(one_worker_only_computes) {
    for (int a = 0; a < 4; ++a) {
        const distribution_plan d = plan_distribution(ten_layers(), cluster_of(1, static_cast<algorithm>(a)));
        BOOST_TEST(near(d.step, d.lone));
        BOOST_TEST(d.exposed == 0);
        BOOST_TEST(near(d.efficiency, 1));
        BOOST_TEST(d.communication == 0);
    }
    double flops = 0;   // forward once, backward twice, but once for the first layer; updates
    for (int i = 0; i < 10; ++i) flops += (i ? 3 : 2) * 32 * (1e8 + 1e7 * i) + 14 * (2e5 + 3e5 * i);
    BOOST_TEST(near(plan_distribution(ten_layers(), cluster_of(1)).step, flops / 1e11));
}
BOOST_AUTO_TEST_CASE(infinite_links_expose_nothing) {
    for (int a = 0; a < 4; ++a)
        for (int n : {2, 12, 1000}) {
            cluster_model m = cluster_of(n, static_cast<algorithm>(a));
            m.bandwidth = std::numeric_limits<double>::infinity();
            m.latency = 0;
            training_profile p = ten_layers();
            p.updates.clear();   // that servers would begin when gradients are there
            const distribution_plan d = plan_distribution(p, m);
            BOOST_TEST(d.exposed == 0);
            BOOST_TEST(near(d.efficiency, 1));
        }
}
/// A second of computation behind the first bucket hides its messages; only those of the last show.
BOOST_AUTO_TEST_CASE(what_backward_hides) {
    training_profile p = one_bucket(1e6);
    p.launches = {{{0, 1e10}, {}}, {{0, 1e11}, {}}};
    p.buckets = {{{0, 5e6}, 0, false}, {{0, 1e6}, 1, false}};
    cluster_model m = cluster_of(2);
    m.latency = 0;
    BOOST_TEST(near(plan_distribution(p, m).exposed, 1e6 / 1.25e9));   // 2 (n - 1) / n is 1
    m.overlap = false;
    BOOST_TEST(near(plan_distribution(p, m).exposed, 6e6 / 1.25e9));
    m.overlap = true;
    m.bandwidth = 2e6;   // the first takes 2.5 s, of which 1 s is hidden
    BOOST_TEST(near(plan_distribution(p, m).exposed, 1.5 + 0.5));
    const distribution_plan d = plan_distribution(p, m);
    BOOST_TEST(near(d.buckets[0].begun, 0.1));
    BOOST_TEST(near(d.buckets[0].done, 2.6));
    BOOST_TEST(near(d.buckets[1].final, 1.1));
    BOOST_TEST(near(d.buckets[1].begun, 2.6));
    BOOST_TEST(near(d.buckets[1].done, 3.1));
    m.bucket_bytes = 6e6;   // joined, it begins when the second is final
    BOOST_TEST(near(plan_distribution(p, m).exposed, 3));
}
BOOST_AUTO_TEST_CASE(accumulated_steps_communicate_once_a_round) {
    training_profile p = one_bucket(4e6);
    p.updates = {{{0, 1e10}, {}}};
    p.every = 4;
    const double m = 6 * (1e6 / 1.25e9 + 20e-6);
    const distribution_plan d = plan_distribution(p, cluster_of(4));
    BOOST_TEST(near(d.step, 0.5 + (0.1 + m) / 4));
    BOOST_TEST(near(d.lone, 0.5 + 0.1 / 4));
}
/// Half of the ring's messages before the update, which takes 1/n, and half behind it; and 1/n of
/// the optimizer's memory.
BOOST_AUTO_TEST_CASE(sharded_updates) {
    training_profile p = one_bucket(4e6);
    p.updates = {{{0, 1e10}, {}}};
    p.slot_bytes = 8e6;
    cluster_model m = cluster_of(4);
    const double whole = plan_distribution(p, m).step, whole_bytes = plan_distribution(p, m).worker_bytes;
    m.sharded_update = true;
    BOOST_TEST(near(whole - plan_distribution(p, m).step, 0.1 * 3 / 4));
    BOOST_TEST(near(whole_bytes - plan_distribution(p, m).worker_bytes, 6e6));
    m.algorithm = algorithm::servers;
    BOOST_CHECK_THROW(plan_distribution(p, m), option_error);
}
BOOST_AUTO_TEST_CASE(a_measured_step_replaces_rates) {
    cluster_model m = cluster_of(8);
    m.step_seconds = 0.25;
    BOOST_TEST(near(plan_distribution(ten_layers(), m).lone, 0.25));
    const double shares = plan_distribution(ten_layers(), m).buckets[0].final;   // rates say only how it is shared out
    m.flops *= 7;
    BOOST_TEST(near(plan_distribution(ten_layers(), m).buckets[0].final, shares));
}

/// Means of the slowest of n: exact for uniform and exponential numbers.
BOOST_AUTO_TEST_CASE(the_slowest_of_many) {
    training_profile p = one_bucket(1);
    for (int n : {1, 2, 10, 1000, 100'000}) {
        cluster_model m = cluster_of(n);
        m.samples = 4000;
        m.delay = {straggler_kind::uniform, 0.4};
        BOOST_TEST(near(plan_distribution(p, m).straggling, 0.5 * 0.4 * n / (n + 1), 2e-3));
        double harmonic = 0;
        for (int i = 1; i <= n; ++i) harmonic += 1.0 / i;
        m.delay = {straggler_kind::exponential, 0.1};
        BOOST_TEST(near(plan_distribution(p, m).straggling, 0.5 * 0.1 * harmonic, 2e-3));
        m.delay = {straggler_kind::pareto, 3};   // n B(n, 1 - 1/3)
        const double mean = std::exp(std::lgamma(n + 1.0) + std::lgamma(2 / 3.) - std::lgamma(n + 2 / 3.));
        BOOST_TEST(near(plan_distribution(p, m).straggling, 0.5 * (mean - 1), 4e-2));   // its tail wants more samples
        m.delay = {straggler_kind::lognormal, 0};
        BOOST_TEST(std::abs(plan_distribution(p, m).straggling) < 1e-12);
    }
}
BOOST_AUTO_TEST_CASE(quantiles_of_the_normal_distribution) {
    for (double q : {0.5, 0.3, 0.1, 0.02425, 0.01, 1e-3, 1e-6, 1e-12, 0.9, 0.999})
        BOOST_TEST(near(0.5 * std::erfc(profile::normal_above(q) / std::sqrt(2.0)), q, 1e-12));
    BOOST_TEST(near(profile::normal_above(0.025), 1.959963984540054, 1e-13));
    BOOST_TEST(near(profile::normal_above(0.1), 1.2815515655446004, 1e-13));
}
BOOST_AUTO_TEST_CASE(what_grows_and_falls) {
    const training_profile p = ten_layers();
    for (int a = 0; a < 4; ++a)
        for (auto kind : {straggler_kind::none, straggler_kind::exponential}) {
            const auto step = [&](auto change) {
                cluster_model m = cluster_of(16, static_cast<algorithm>(a));
                m.workers_per_node = 4;
                m.node_bandwidth = 1e10;
                m.delay = {kind, kind == straggler_kind::none ? 0 : 0.05};
                change(m);
                return plan_distribution(p, m).step;
            };
            const double usual = step([](cluster_model&) {});
            const double hair = 1e-12;
            BOOST_TEST(step([](cluster_model& m) { m.bandwidth *= 2; }) <= usual + hair);
            BOOST_TEST(step([](cluster_model& m) { m.latency *= 4; }) >= usual);   // a ring over nodes may hide it
            BOOST_TEST(step([](cluster_model& m) { m.latency *= 100; }) > usual);
            BOOST_TEST(step([](cluster_model& m) { m.flops *= 2; }) < usual);
            BOOST_TEST(step([](cluster_model& m) { m.workers *= 4; }) > usual);
            BOOST_TEST(step([](cluster_model& m) { m.overlap = false; }) >= usual - hair);
            BOOST_TEST(step([](cluster_model& m) { m.batch = 64; }) > usual);
            BOOST_TEST(step([](cluster_model& m) { m.delay = {straggler_kind::exponential, 0.2}; }) > usual);
            if (a == 3) BOOST_TEST(step([](cluster_model& m) { m.servers *= 2; }) < usual);
        }
}
BOOST_AUTO_TEST_CASE(the_parts_of_a_step_are_the_step) {
    for (int a = 0; a < 4; ++a)
        for (int n : counts) {
            cluster_model m = cluster_of(n, static_cast<algorithm>(a));
            m.delay = {straggler_kind::lognormal, 0.1};
            const distribution_plan d = plan_distribution(ten_layers(), m);
            BOOST_TEST(near(d.compute + d.straggling + d.exposed, d.step));
            BOOST_TEST(d.exposed >= -1e-12);
            BOOST_TEST(near(d.efficiency, d.lone / d.step));
            BOOST_TEST(near(d.examples_per_second(), 32.0 * n / d.step));
        }
}
BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_plan) {
    cluster_model m = cluster_of(50, algorithm::servers);
    m.bandwidth = 1e8;   // the servers' links are what all wait for, so that it counts who comes when
    m.delay = {straggler_kind::exponential, 0.1};
    const double first = plan_distribution(ten_layers(), m).step;
    BOOST_TEST(plan_distribution(ten_layers(), m).step == first);
    m.seed = 2;
    BOOST_TEST(plan_distribution(ten_layers(), m).step != first);
}
BOOST_AUTO_TEST_CASE(batches_that_pay) {
    cluster_model m = cluster_of(64);
    m.bandwidth = 1.25e8;
    const paying_batch b = batch_that_pays(ten_layers(), m);
    BOOST_TEST((b.ended_by == paying_batch::gain));
    BOOST_TEST(b.batch > 1);
    m.batch = b.batch;
    const double here = plan_distribution(ten_layers(), m).examples_per_second();
    BOOST_TEST(near(here, b.plan.examples_per_second()));
    m.batch = 2 * b.batch;
    BOOST_TEST(plan_distribution(ten_layers(), m).examples_per_second() < 1.05 * here);
    m.batch = b.batch / 2;
    BOOST_TEST(here >= 1.05 * plan_distribution(ten_layers(), m).examples_per_second());
    m.batch = 0;
    cluster_model slower = m;   // slower links want larger batches
    slower.bandwidth /= 16;
    BOOST_TEST(batch_that_pays(ten_layers(), slower).batch > b.batch);
    cluster_model noisy = m;   // where the gradient's noise bounds what a batch is worth, smaller ones
    noisy.critical_batch = 256;
    BOOST_TEST(batch_that_pays(ten_layers(), noisy).batch < b.batch);
    m.memory = plan_distribution(ten_layers(), cluster_of(1)).worker_bytes;   // of 32 examples and no messages
    BOOST_TEST(batch_that_pays(ten_layers(), m).batch < 32);
    m.memory = 1e3;
    const paying_batch none = batch_that_pays(ten_layers(), m);
    BOOST_TEST(none.batch == 0);
    BOOST_TEST((none.ended_by == paying_batch::memory));
}
/// What was measured with one batch is not said to be the step of another.
BOOST_AUTO_TEST_CASE(batches_that_pay_of_a_measured_step) {
    cluster_model rates = cluster_of(64), measured = cluster_of(64);
    measured.step_seconds = plan_distribution(ten_layers(), rates).lone;
    measured.flops = 3;
    BOOST_TEST(batch_that_pays(ten_layers(), measured).batch == batch_that_pays(ten_layers(), rates).batch);
}
BOOST_AUTO_TEST_CASE(figures_that_cannot_be_used) {
    training_profile p = one_bucket(4e6);
    p.buckets[0].final_after = 2;
    BOOST_CHECK_THROW(plan_distribution(p, cluster_of(2)), option_error);
    p = one_bucket(-1);
    BOOST_CHECK_THROW(plan_distribution(p, cluster_of(2)), option_error);
    p.launches.clear();
    BOOST_CHECK_THROW(plan_distribution(p, cluster_of(2)), option_error);
    const auto refused = [](auto change) {
        cluster_model m = cluster_of(2);
        change(m);
        BOOST_CHECK_THROW(plan_distribution(one_bucket(4), m), option_error);
    };
    refused([](cluster_model& m) { m.workers = 0; });
    refused([](cluster_model& m) { m.workers_per_node = 2; });   // and no link within nodes
    refused([](cluster_model& m) { m.bandwidth = 0; });
    refused([](cluster_model& m) { m.latency = -1; });
    refused([](cluster_model& m) { m.flops = std::numeric_limits<double>::quiet_NaN(); });
    refused([](cluster_model& m) { m.samples = 0; });
    refused([](cluster_model& m) { m.delay = {straggler_kind::pareto, 1}; });   // no mean
}
