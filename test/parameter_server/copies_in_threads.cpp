// SPDX-License-Identifier: BSL-1.0
// shows servers: a second copy that cannot be restored is reported to the chief
// needs: distributed
// waits: until lost servers are missed
// Two copies of each shard, in threads of one process (for the thread sanitizer): asynchronous, by
// clocks, and with a norm that servers add up. What both copies count is the same.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <latch>

using namespace sinter;
using namespace sinter::ps_test;
using parameter_servers::update_order;

namespace {

constexpr int workers = 2, servers = 2, pushes = 25;
constexpr std::int64_t floats = 64;

class by_norm : public plain_sgd {
public:
    explicit by_norm(bool clips) : clips_(clips) {}
    parameter_servers::norm_need needs() const override {
        return clips_ ? parameter_servers::norm_need::all_gradients : parameter_servers::norm_need::none;
    }
    void update(int, float* p, const float* g, float*, std::int64_t, std::int64_t n, const float*,
                float sum) const override {
        const float factor = clips_ ? 1 / std::sqrt(sum) : 1.f;
        for (std::int64_t i = 0; i < n; ++i) p[i] += factor * g[i];
    }

private:
    bool clips_;
};

/// The values of all servers in the end.
std::vector<float> run(const update_order& order, bool clips) {
    std::vector<parameter_servers::shard_layout> l;
    for (int s = 0; s < servers; ++s) {
        l.push_back(dense_layout(floats));
        l.back().runs[0].tensor = s;
    }
    const job j(workers, l, quick(2));
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads run_servers, run_workers;
    std::latch all_there(workers);
    const auto optimizer = [clips] { return std::make_unique<by_norm>(clips); };
    for (int s = 0; s < servers; ++s) {
        parameter_servers::server_options with;
        with.order = order;
        with.parameters = servers;
        with.replicas = 2;
        with.other = std::make_shared<parameter_servers::other_shard>(
            parameter_servers::other_shard{l[static_cast<std::size_t>((s + servers - 1) % servers)], optimizer(), {}});
        all.push_back(std::make_unique<parameter_servers::server>(
            j.as(cluster_role::ps, s), j.same, l[static_cast<std::size_t>(s)], optimizer(),
            [](std::int64_t, float, float* to) { to[0] = 1; }, with));
    }
    for (auto& s : all) run_servers.start([&s] { s->run(); });
    std::vector<float> values(servers * floats);
    for (int w = 0; w < workers; ++w)
        run_workers.start([&, w] {
            const auto c = j.client(w, {.replicas = 2});
            all_there.arrive_and_wait();
            if (w == 0) {
                const std::vector<float> zeros(floats);
                for (int s = 0; s < servers; ++s) c->write(s, 0, 0, zeros);
                c->open(0);
            }
            c->wait_until_open();
            std::vector<float> x(floats);
            const std::vector<parameter_servers::pull_target> to(servers, parameter_servers::pull_target{x.data()});
            const std::vector<float> g(floats, static_cast<float>(w + 1));
            for (int k = 0; k < pushes; ++k) {
                c->begin_push();
                for (int s = 0; s < servers; ++s) c->push(s, 0, g);
                c->wait(c->commit({.loss = 1}, to));
            }
            if (w == 0) {
                c->rest();
                c->wait_for_others();
                if (order.mode == parameter_servers::update_mode::clocks) c->wait_for_clock();
                for (int s = 0; s < servers; ++s)
                    c->read(s, 0, 0, {values.data() + s * floats, static_cast<std::size_t>(floats)});
            }
            c->leave();
        });
    no_fault_of(run_workers);
    no_fault_of(run_servers);
    return values;
}

BOOST_AUTO_TEST_CASE(both_copies_take_part_in_threads) {
    update_order stale = update_order::stale(1);
    stale.all_join = true;
    const std::vector<float> expected(servers * floats, 3.f * pushes);
    BOOST_TEST(run(update_order::async(), false) == expected, boost::test_tools::per_element());
    BOOST_TEST(run(stale, false) == expected, boost::test_tools::per_element());
    // All floats of a clock's gradient are 3, of 128: each moves by 1 / sqrt(128).
    for (const float x : run(stale, true))
        BOOST_TEST(x == pushes / std::sqrt(128.f), boost::test_tools::tolerance(1e-4f));
}

/// A shard that cannot be restored: whoever dials its server hears why, and so does whoever runs it.
struct damaged_files : parameter_servers::shard_files {
    void save(const parameter_servers::shard_view&, const std::string&) override {}
    bool load(parameter_servers::shard_view&) override {
        throw format_error("a file that was damaged", "the checkpoint");
    }
};
BOOST_AUTO_TEST_CASE(restore_failure_reaches_the_chief) {
    const job j(1, 2, dense_layout(floats));
    std::vector<std::unique_ptr<parameter_servers::server>> all;
    threads run_servers;
    for (int s = 0; s < servers; ++s) {
        parameter_servers::server_options with;
        with.replicas = 2;
        with.files_of = [](int) { return std::make_shared<damaged_files>(); };
        with.other = std::make_shared<parameter_servers::other_shard>(
            parameter_servers::other_shard{j.layouts[0], std::make_unique<by_norm>(false), {}});
        all.push_back(std::make_unique<parameter_servers::server>(j.as(cluster_role::ps, s), j.same, j.layouts[0],
                                                        std::make_unique<by_norm>(false),
                                                        [](std::int64_t, float, float* to) { to[0] = 1; }, with));
    }
    for (auto& s : all) run_servers.start([&s] { s->run(); });
    std::string told = "nothing";
    try {
        j.client(0, {.replicas = 2});
    } catch (const error& e) {
        told = e.what();
    }
    BOOST_TEST(holds(told, "a file that was damaged"), told);
    for (auto& s : all) s->stop();   // the other shard's may not have been told to lead
    const std::string of_servers = run_servers.join();
    BOOST_TEST(holds(of_servers, "a file that was damaged"), of_servers);
}

} // namespace
