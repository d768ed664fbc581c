// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// Parameter servers whose workers push at their own pace: sums, counters, tickets, the end of a job.
#include "job_of_threads.hpp"
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <latch>

using namespace sinter;
using namespace sinter::ps_test;
using parameter_servers::pull_target;

namespace {
/// One worker's steps: gradient -1 everywhere, so that values count the pushes.
std::int64_t work(const job& j, int w, std::int64_t floats, int steps, bool overlap) {
    auto c = j.client(w, {.overlap = overlap});
    const auto n = static_cast<std::size_t>(floats);
    std::vector<std::vector<float>> values(j.layouts.size(), std::vector<float>(n));
    std::vector<pull_target> to;
    for (auto& v : values) to.push_back({v.data(), nullptr});
    if (w == 0) {
        for (int s = 0; s < c->servers(); ++s) c->write(s, 0, 0, std::vector<float>(n, 100.f));
        c->open(0);
    }
    c->wait(c->start_pull(to));
    const std::vector<float> g(n, -1.f);
    std::int64_t made = 0;
    for (int i = 0; i < steps && c->may_step(); ++i, ++made) {
        c->begin_push();
        for (int s = 0; s < c->servers(); ++s) {
            c->push(s, 16, {g.data() + 16, n - 16});
            c->push(s, 0, {g.data(), 16});
        }
        c->wait(c->commit({.loss = 1}, to));
    }
    c->leave();
    return made;
}
} // namespace

BOOST_AUTO_TEST_CASE(every_push_is_one_update_and_all_end_by_themselves) {
    for (const std::int64_t floats : {std::int64_t{64}, std::int64_t{300'000}}) {   // within one frame, and in two
        const job j(3, 2, dense_layout(floats));
        running_servers servers(j, {}, 1, 1);
        threads workers;
        for (int w = 0; w < 3; ++w) workers.start([&, w] { work(j, w, floats, 40, w == 1); });
        no_fault_of(workers);
        no_fault_of(servers);
        for (const auto& s : servers.servers) {
            BOOST_TEST(s->global_step() == 120);
            for (const auto& c : s->counters()) {
                BOOST_TEST(c.applied == 40);
                BOOST_TEST(c.repeated == 0);
                BOOST_TEST(c.torn == 0);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(max_steps_is_never_overshot) {
    const job j(3, 1, dense_layout(32));
    running_servers servers(j, {});
    std::atomic<std::int64_t> made{0};
    std::latch all_there(3);   // who comes when the job is over is refused
    threads workers;
    for (int w = 0; w < 3; ++w)
        workers.start([&, w] {
            auto c = j.client(w);
            all_there.arrive_and_wait();
            std::vector<float> v(32);
            const pull_target to[1] = {{v.data(), nullptr}};
            if (w == 0) {
                c->write(0, 0, 0, v);
                c->open(101);
            }
            const std::vector<float> g(32, -1.f);
            while (c->may_step()) {
                c->begin_push();
                c->push(0, 0, g);
                c->wait(c->commit({}, to));
                ++made;
            }
            c->rest();
            if (w == 0) {
                c->wait_for_others();
                c->wait(c->start_pull(to));
                SINTER_NEED(v[5] == 101.f);
            }
            c->leave();
        });
    no_fault_of(workers);
    no_fault_of(servers);
    BOOST_TEST(made == 101);
    BOOST_TEST(servers.servers[0]->global_step() == 101);
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_updates_nothing) {
    const job j(1, 1, dense_layout(32));
    running_servers servers(j, {});
    threads workers;
    workers.start([&] {
        auto c = j.client(0);
        std::vector<float> v(32);
        const pull_target to[1] = {{v.data(), nullptr}};
        c->write(0, 0, 0, v);
        c->open(0);
        const std::vector<float> g(32, -1.f);
        for (const double loss : {1.0, std::nan(""), 1.0}) {
            c->begin_push();
            c->push(0, 0, g);
            c->wait(c->commit({.loss = loss}, to));
        }
        BOOST_TEST(v[0] == 2.f);
        BOOST_TEST((c->last().push == parameter_servers::answer_info::fate::applied));
        BOOST_TEST(c->global_step() == 2);
    });
    no_fault_of(workers);
    BOOST_TEST(servers.servers[0]->counters()[0].not_finite == 1);
}

BOOST_AUTO_TEST_CASE(sums_over_workers_and_a_stop_that_all_hear_of) {
    const job j(3, 2, dense_layout(32));
    running_servers servers(j, {});
    threads workers;
    for (int w = 0; w < 3; ++w)
        workers.start([&, w] {
            auto c = j.client(w);
            if (w == 0) c->open(0);
            else c->wait_until_open();
            double all[1] = {1};
            while (all[0] != 3) all[0] = 1, c->reduce(all);   // who is not there yet is not waited for
            double x[2] = {1. + w, 0.5};
            c->reduce(x);
            SINTER_NEED(x[0] == 6);
            SINTER_NEED(x[1] == 1.5);
            if (w == 2) c->ask_all_to_stop("enough");
            while (c->may_step()) c->wait(c->start_pull({}));
            SINTER_NEED(c->asked());
            SINTER_NEED(c->stop_reason() == "worker/2: enough");
        });
    no_fault_of(workers);
    no_fault_of(servers);
}

BOOST_AUTO_TEST_CASE(arrays_are_written_and_read) {
    parameter_servers::shard_layout l = dense_layout(48);
    l.states = 5;
    l.tables.push_back({"table", 7, 3, 0});
    const job j(1, 2, l);
    running_servers servers(j, {}, 1, 2);
    threads workers;
    workers.start([&] {
        auto c = j.client(0);
        std::vector<float> a(48), b(48);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = float(i);
        BOOST_TEST(!c->initialised());
        c->write(1, 0, 0, a);
        c->write(1, 2, 16, {a.data(), 32});
        c->write(1, parameter_servers::client::states, 1, {a.data() + 40, 4});
        c->write_rows(1, 0, 0, 2, {a.data() + 3, 9});
        c->open(0, 17);
        c->read(1, 0, 3, {b.data(), 7});
        BOOST_TEST(b[6] == 9.f);
        c->read(1, 2, 0, b);
        BOOST_TEST(b[15] == 0.f);
        BOOST_TEST(b[17] == 1.f);
        float states[5];
        c->read(1, parameter_servers::client::states, 0, states);
        BOOST_TEST(states[0] == 0.f);
        BOOST_TEST(states[4] == 43.f);
        c->read_rows(1, 0, 0, 1, {b.data(), 12});
        BOOST_TEST(b[2] == 0.f);
        BOOST_TEST(b[3] == 3.f);
        BOOST_TEST(b[11] == 11.f);
        BOOST_TEST(c->global_step() == 17);
        BOOST_CHECK_THROW(c->read(1, 3, 0, b), cluster_error);
    });
    no_fault_of(workers);
}

BOOST_AUTO_TEST_CASE(few_rows_and_many_are_pushed_and_pulled) {
    constexpr std::int64_t rows = 3000;
    constexpr int width = 260;   // one frame holds a thousand
    parameter_servers::shard_layout l;
    l.tables.push_back({"table", rows, width, 0});
    for (const int wrong : {0, 1, 2}) {   // at the end: nothing, a row that is not there, a row twice
        const job j(1, 1, l);
        running_servers servers(j, {});
        threads workers;
        workers.start([&] {
            auto c = j.client(0);
            c->open(0);
            std::vector<float> truth(rows * width), gradient(rows * width), got(rows * width);
            std::vector<std::int64_t> order(rows);
            for (std::int64_t r = 0; r < rows; ++r) order[static_cast<std::size_t>(r)] = r * 7 % rows;
            for (const std::size_t n : {1u, 10u, 15u, 16u, 17u, 100u, 999u, 1000u, 1001u, 3000u, 5u}) {
                for (std::size_t i = 0; i < n * width; ++i) gradient[i] = static_cast<float>(i % 1013 + n);
                const auto keys = span<const std::int64_t>(order).subspan(rows - n);
                for (std::size_t k = 0; k < n; ++k)
                    for (std::size_t i = 0; i < width; ++i)
                        truth[static_cast<std::size_t>(keys[k]) * width + i] -= gradient[k * width + i];
                c->begin_push();
                c->push_rows(0, 0, keys, {gradient.data(), n * width});
                const auto pulled = c->start_pull_rows(0, 0, order, got.data());   // behind the push
                c->wait(c->commit({.loss = 1}));
                c->wait(pulled);
                for (std::size_t k = 0; k < rows; ++k)
                    BOOST_TEST_REQUIRE(std::equal(&got[k * width], &got[k * width] + width,
                                                  &truth[static_cast<std::size_t>(order[k]) * width]));
            }
            if (wrong == 0) return c->leave();
            order[2000] = wrong == 1 ? rows : order[1000];
            c->begin_push();
            c->push_rows(0, 0, order, gradient);
            BOOST_CHECK_THROW(c->wait(c->commit({.loss = 1})), cluster_error);
        });
        no_fault_of(workers);
    }
}
