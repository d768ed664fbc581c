// SPDX-License-Identifier: BSL-1.0
// shows servers: TensorFlow's numbers for three workers with one backup; decisions for clocks that a worker has
//     passed
// needs: distributed
// Parameter servers whose workers push by clocks: whose numbers make an update, and in which order they are added.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <random>

using namespace sinter;
using namespace sinter::ps_test;
using parameter_servers::pull_target;
using fate = parameter_servers::answer_info::fate;

// The numbers of TensorFlow's sync_replicas_optimizer_test.py, test3Workers1Backup: rate 2, variables 0 and 1, worker w
// with gradients 0.1 + 0.2 w and 0.9 + 0.2 w, and the row 1 of a table of ones whose gradient is 0.1 + 0.2 w in its
// first place. Workers 0 and 2 come first, worker 1 is late; then 0 and 1 make the next update.
BOOST_AUTO_TEST_CASE(three_workers_of_whom_one_is_backup) {
    parameter_servers::shard_layout l = dense_layout(32);
    l.tables.push_back({"table", 3, 1, 0});
    const job j(3, 1, l);
    parameter_servers::server_options o;
    o.order = parameter_servers::update_order::sync(1);
    running_servers servers(j, o, 2);
    std::vector<std::unique_ptr<parameter_servers::client>> c(3);
    for (int w = 0; w < 3; ++w) c[std::size_t(w)] = j.client(w);
    std::vector<float> first(32, 0.f);
    first[16] = 1;
    c[0]->write(0, 0, 0, first);
    c[0]->write_rows(0, 0, 0, 0, std::vector<float>{3, 4, 5});
    c[0]->open(0);
    std::vector<float> v(32), g(32);
    std::vector<std::vector<float>> gradients(3, std::vector<float>(32)), rows(3, std::vector<float>(1));
    const pull_target to[1] = {{v.data(), nullptr}};
    const std::int64_t key[1] = {1};
    const auto push = [&](int w) {
        auto& mine = gradients[std::size_t(w)];
        mine[0] = 0.1f + 0.2f * float(w), mine[16] = 0.9f + 0.2f * float(w);
        rows[std::size_t(w)][0] = mine[0];
        auto& k = *c[std::size_t(w)];
        k.begin_push();
        k.push(0, 0, mine);
        k.push_rows(0, 0, key, rows[std::size_t(w)]);
        k.wait(k.commit({.loss = 1}));
        return k.last().push;
    };
    BOOST_TEST((push(0) == fate::staged));
    BOOST_TEST((push(2) == fate::applied || c[2]->last().push == fate::staged));
    c[0]->wait(c[0]->start_pull(to));
    BOOST_TEST(v[0] == -0.6f, boost::test_tools::tolerance(1e-6f));
    BOOST_TEST(v[16] == -1.2f, boost::test_tools::tolerance(1e-6f));
    float row[1];
    c[0]->wait(c[0]->start_pull_rows(0, 0, key, row));
    BOOST_TEST(row[0] == 4.f - (0.1f + 0.5f) / 2 * 2, boost::test_tools::tolerance(1e-6f));
    BOOST_TEST((push(1) == fate::late));
    BOOST_TEST(c[1]->last().clock == 1);
    push(0);
    push(1);
    c[1]->wait(c[1]->start_pull(to));
    BOOST_TEST(v[0] == -1.0f, boost::test_tools::tolerance(1e-6f));
    BOOST_TEST(v[16] == -3.2f, boost::test_tools::tolerance(1e-6f));
    BOOST_TEST(c[1]->global_step() == 2);
    BOOST_TEST(servers.servers[0]->counters()[1].dropped == 1);
    for (auto& k : c) k->leave();
    no_fault_of(servers);
}
#ifndef __SANITIZE_THREAD__   // each of its updates of 8 million floats takes seconds there
/// A worker that goes on behind clocks which another server has told it of knows where all save. Worker 2's push of the
/// first clock reaches server 0 at once, and server 1 when the others are six clocks on.
BOOST_AUTO_TEST_CASE(what_was_agreed_on_for_clocks_that_are_passed) {
    constexpr std::int64_t large = std::int64_t{1} << 23;   // more floats than connections hold
    parameter_servers::shard_layout l;
    l.floats = large;
    l.runs.push_back({0, large, 0, 0});   // one tensor, one lock
    const job j(3, {dense_layout(8), l}, quick(60));
    parameter_servers::server_options o;
    o.order = parameter_servers::update_order::sync(1);
    o.order.all_join = true;
    o.parameters = 1;
    running_servers servers(j, o);
    std::vector<std::unique_ptr<parameter_servers::client>> c(3);
    for (int w = 0; w < 3; ++w) c[std::size_t(w)] = j.client(w, {.overlap = w < 2});
    const std::vector<float> small(8), all(large);
    c[0]->write(0, 0, 0, small);
    c[0]->write(1, 0, 0, all);
    c[0]->open(0);
    for (auto& k : c) k->wait_until_open();
    const auto push = [&](int w) {
        auto& k = *c[std::size_t(w)];
        BOOST_TEST_REQUIRE(k.may_step());
        k.begin_push();
        k.push(0, 0, small);
        k.push(1, 0, all);
        return k.commit({.loss = 1});
    };
    const auto steps = [&](int n) {
        for (int i = 0; i < n; ++i)
            for (int w = 0; w < 2; ++w) c[std::size_t(w)]->wait(push(w));
    };
    bool passed = false;
    for (int i = 0; i < 20 && !passed; ++i) {   // until server 1 was too slow to take all of it at once
        const parameter_servers::ticket late = push(2);   // of which nothing more is sent until it is waited for
        steps(2);
        c[0]->ask_all_to_save();
        const std::int64_t files = c[0]->files_clock();
        steps(4);
        c[2]->wait(late);
        passed = c[2]->pass_clocks() >= files;
        if (passed) BOOST_TEST(c[2]->files_clock() == files);
    }
    BOOST_TEST(passed);
    for (auto& k : c) k->leave();
    no_fault_of(servers);
}
#endif

namespace {
/// What `workers` of random speeds come to after `steps` clocks with gradients of their own.
std::vector<float> train(const parameter_servers::update_order& order, int workers, int servers_, int steps,
                         unsigned seed, bool overlap = true) {
    constexpr std::int64_t n = 20'000;
    parameter_servers::shard_layout l = dense_layout(n);
    l.tables.push_back({"table", 50, 5, 0});
    l.states = 3;
    const job j(workers, servers_, l);
    parameter_servers::server_options o;
    o.order = order;
    running_servers servers(j, o, 0.1f);
    std::vector<float> end;
    threads all;
    for (int w = 0; w < workers; ++w)
        all.start([&, w] {
            std::mt19937 random(static_cast<unsigned>(w) + 1), pace(seed * 100 + static_cast<unsigned>(w));
            auto c = j.client(w, {.overlap = overlap});
            std::vector<std::vector<float>> v(static_cast<std::size_t>(servers_), std::vector<float>(n)), g = v;
            std::vector<float> states(3);
            std::vector<pull_target> to;
            for (auto& x : v) to.push_back({x.data(), nullptr});
            to[0].states = states.data();
            if (w == 0) {
                for (int s = 0; s < servers_; ++s) c->write(s, 0, 0, v[std::size_t(s)]);
                c->open(steps);
            }
            c->wait(c->start_pull(to));
            for (int i = 0; c->may_step(); ++i) {
                ::usleep(static_cast<useconds_t>(pace() % 1500));
                std::vector<std::int64_t> keys;
                std::vector<float> rows;
                for (std::int64_t k = static_cast<std::int64_t>(random() % 7); k < 50; k += 7) {
                    keys.push_back(k);
                    for (int f = 0; f < 5; ++f) rows.push_back(float(random() % 1000) * 1e-3f);
                }
                c->begin_push();
                for (int s = 0; s < servers_; ++s) {
                    for (float& x : g[std::size_t(s)]) x = float(random() % 1000) * 1e-3f - 0.5f;
                    c->push(s, 0, g[std::size_t(s)]);
                    c->push_rows(s, 0, keys, rows);
                }
                c->push_states(0, std::vector<float>{1.f * float(w), 2, 3});
                c->wait(c->commit({.loss = 1, .weight = 1. + w, .states_count = 1}, to));
                SINTER_NEED(c->last().clock - c->last().applied <= order.staleness);
            }
            c->rest();
            if (w == 0) {
                c->wait_for_others();
                c->wait(c->start_pull(to));
                for (auto& x : v) end.insert(end.end(), x.begin(), x.end());
                std::vector<float> table(250);
                c->read_rows(0, 0, 0, 0, table);
                end.insert(end.end(), table.begin(), table.end());
                BOOST_TEST(states[1] == 2.f);
                BOOST_TEST(states[0] == float(workers - 1) / 2, boost::test_tools::tolerance(1e-6f));
            }
            c->leave();
        });
    no_fault_of(all);
    no_fault_of(servers);
    for (auto& s : servers.servers) BOOST_TEST(s->global_step() == steps);
    return end;
}
/// The same without servers: pushes are added as the order says.
std::vector<float> truth(const parameter_servers::update_order& order, int workers, int servers_, int steps) {
    constexpr std::size_t n = 20'000;
    std::vector<float> v(n * static_cast<std::size_t>(servers_)), table(250);
    std::vector<std::mt19937> random;
    for (int w = 0; w < workers; ++w) random.emplace_back(static_cast<unsigned>(w) + 1);
    std::vector<std::vector<float>> g(static_cast<std::size_t>(workers)), rows = g;
    const auto add = [&](auto get) {   // of all workers' numbers, by rank or by tree; -0 where one has none
        std::vector<float> x;
        for (int w = 0; w < workers; ++w) x.push_back(get(w));
        if (order.order == parameter_servers::sum_order::ranks)
            for (std::size_t k = 1; k < x.size(); ++k) x[0] += x[k];
        else
            for (std::size_t d = 1; d < x.size(); d *= 2)
                for (std::size_t k = 0; k + d < x.size(); k += 2 * d) x[k] += x[k + d];
        return x[0];
    };
    for (int i = 0; i < steps; ++i) {
        for (int w = 0; w < workers; ++w) {
            auto& r = rows[std::size_t(w)];
            auto& x = g[std::size_t(w)];
            r.assign(250, -0.f);
            x.clear();
            for (std::size_t k = random[std::size_t(w)]() % 7; k < 50; k += 7)
                for (std::size_t f = 0; f < 5; ++f) r[k * 5 + f] = float(random[std::size_t(w)]() % 1000) * 1e-3f;
            for (std::size_t k = 0; k < v.size(); ++k)
                x.push_back(float(random[std::size_t(w)]() % 1000) * 1e-3f - 0.5f);
        }
        for (std::size_t k = 0; k < v.size(); ++k)
            v[k] -= 0.1f * add([&](int w) { return g[std::size_t(w)][k]; });
        for (std::size_t k = 0; k < 250; ++k)
            table[k] -= 0.1f * add([&](int w) { return rows[std::size_t(w)][k]; });
    }
    v.insert(v.end(), table.begin(), table.end());
    return v;
}
} // namespace

BOOST_AUTO_TEST_CASE(by_clocks_without_staleness_every_bit_is_that_of_a_sum_in_order) {
    for (const auto sums : {parameter_servers::sum_order::ranks, parameter_servers::sum_order::tree}) {
        parameter_servers::update_order o = parameter_servers::update_order::stale(0);
        o.order = sums;
        o.all_join = true;
        const auto wanted = truth(o, 3, 2, 25);
        BOOST_TEST((train(o, 3, 2, 25, 1) == wanted));
        BOOST_TEST((train(o, 3, 2, 25, 2, false) == wanted));   // whatever the speeds
    }
}

BOOST_AUTO_TEST_CASE(a_bounded_staleness_loses_no_push) {
    for (const std::int64_t s : {1, 3}) {
        parameter_servers::update_order o = parameter_servers::update_order::stale(s);
        o.all_join = true;
        BOOST_TEST((train(o, 3, 2, 25, 5) == truth(o, 3, 2, 25)));   // updates do not depend on what was read
    }
}

// ps-lite's oracle (test_kv_app.cc): 10,000 keys, 50 pushes of the same values by each worker, and a pull of the sums.
BOOST_AUTO_TEST_CASE(sums_of_ten_thousand_keys) {
    constexpr int keys = 10'000, times = 50, workers = 2, n_servers = 2;
    parameter_servers::shard_layout l;
    l.tables.push_back({"keys", -1, 1, 0});
    const job j(workers, n_servers, l);
    running_servers servers(j, {}, -1);   // added rather than subtracted
    threads all;
    for (int w = 0; w < workers; ++w)
        all.start([&, w] {
            auto c = j.client(w);
            if (w == 0) c->open(0);
            std::mt19937 random(static_cast<unsigned>(w));
            std::vector<std::vector<std::int64_t>> of(n_servers);
            std::vector<std::vector<float>> x(n_servers), sum(n_servers);
            for (int k = 0; k < keys; ++k) {   // each worker has keys of its own, spread over all of 64 bits
                const std::int64_t key = INT64_MAX / keys * k + w - INT64_MAX / 2;
                const auto s = std::size_t(parameter_servers::server_of_key(key, n_servers));
                of[s].push_back(key);
                x[s].push_back(float(random() % 1000));
            }
            parameter_servers::ticket last = 0;
            for (int i = 0; i < times; ++i) {
                c->begin_push();
                for (int s = 0; s < n_servers; ++s) c->push_rows(s, 0, of[std::size_t(s)], x[std::size_t(s)]);
                last = c->commit({});
            }
            c->wait(last);
            for (int s = 0; s < n_servers; ++s) {
                sum[std::size_t(s)].resize(of[std::size_t(s)].size());
                c->wait(c->start_pull_rows(s, 0, of[std::size_t(s)], sum[std::size_t(s)].data()));
                for (std::size_t k = 0; k < sum[std::size_t(s)].size(); ++k)
                    SINTER_NEED(sum[std::size_t(s)][k] == times * x[std::size_t(s)][k]);
            }
        });
    no_fault_of(all);
    no_fault_of(servers);
}
