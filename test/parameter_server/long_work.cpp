// SPDX-License-Identifier: BSL-1.0
// shows servers: long work on a server: nobody is taken for dead, pushes go on while a table is saved
// needs: distributed
// waits: for longer than a member may be silent
// A server that is busy for longer than a member may be silent takes nobody for dead, and nobody loses it.
#include "job_of_threads.hpp"
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <sinter/parameter_server/calls.hpp>

using namespace sinter;
using namespace sinter::ps_test;

namespace {

constexpr double dead_after = 2;
void wait_for(const std::atomic<bool>& it) {
    for (int i = 0; i < 60'000 && !it; ++i) ::usleep(1000);
    BOOST_TEST_REQUIRE(it);
}
void be_silent_too_long() { ::usleep(static_cast<unsigned>(2.5e6 * dead_after)); }

/// Updates of rows of which one takes as long as the test likes.
struct held_updates : plain_sgd {
    using plain_sgd::plain_sgd;
    mutable std::atomic<bool> holds{false}, inside{false}, goes_on{false};
    void update_rows(int group, float* table, float* slots, std::int64_t stride, const row_list& g, const float* s,
                     float sum) const override {
        if (holds.exchange(false))
            for (inside = true; !goes_on;) ::usleep(1000);
        plain_sgd::update_rows(group, table, slots, stride, g, s, sum);
    }
};
struct no_files : parameter_servers::shard_files {
    std::atomic<int> saved{0};
    void save(const parameter_servers::shard_view&, const std::string&) override { ++saved; }
    bool load(parameter_servers::shard_view&) override { return false; }
};

constexpr std::int64_t floats = 16, rows = 1000;
constexpr int width = 8;
parameter_servers::shard_layout with_table() {
    parameter_servers::shard_layout l = dense_layout(floats);
    l.tables.push_back({"table", rows, width, 0});
    return l;
}

/// A job with one server, and its workers.
struct busy_job {
    job j;
    held_updates* updates = new held_updates(1);   // the server's
    std::unique_ptr<parameter_servers::server> server;
    threads serving;
    std::vector<std::unique_ptr<parameter_servers::client>> c;

    busy_job(int workers, parameter_servers::server_options o) : j(workers, 1, with_table()) {
        j.options.dead_after = dead_after;
        server = std::make_unique<parameter_servers::server>(
            j.as(cluster_role::ps, 0), j.same, j.layouts[0], std::unique_ptr<parameter_servers::updater>(updates),
            [](std::int64_t, float factor, float* to) { to[0] = factor; }, std::move(o));
        serving.start([this] { server->run(); });
        for (int w = 0; w < workers; ++w) c.push_back(j.client(w));
        c[0]->write(0, 0, 0, std::vector<float>(floats));
        c[0]->open(0);
    }
    ~busy_job() {
        updates->goes_on = true;
        server->stop();
    }
    /// All but the first leave, then the server serves that one still.
    void end() {
        for (std::size_t w = 0; w < c.size(); ++w) {
            BOOST_TEST(server->counters()[w].connections == 1);
            BOOST_TEST(c[w]->seen().reconnections == 0);
        }
        for (std::size_t w = 1; w < c.size(); ++w) c[w]->leave();
        push(0);
        c[0]->leave();
        no_fault_of(serving);
    }
    void push(std::size_t w) {
        const std::vector<std::int64_t> keys{static_cast<std::int64_t>(w)};
        const std::vector<float> g(floats, -1.f), row(width, -1.f);
        c[w]->begin_push();
        c[w]->push(0, 0, g);
        c[w]->push_rows(0, 0, keys, row);
        c[w]->wait(c[w]->commit({}, {}));
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(who_waits_for_a_table_or_for_a_copy_of_it_is_not_dead) {
    parameter_servers::server_options o;
    const auto files = std::make_shared<no_files>();
    o.files = files;
    busy_job b(5, o);
    b.updates->holds = true;
    threads all;
    all.start([&] { b.push(2); });
    wait_for(b.updates->inside);
    all.start([&] { b.c[0]->wrong_numbers(); });           // wants the table
    all.start(
        [&] { b.c[3]->call(0, parameter_servers::calls::checkpoint()); });   // a copy, while nobody changes anything
    ::usleep(200'000);
    all.start([&] { b.push(1); });                         // waits for that
    all.start([&] {
        std::vector<float> x(width);
        b.c[4]->read_rows(0, 0, parameter_servers::client::parameters, 7, x);
    });
    be_silent_too_long();
    b.updates->goes_on = true;
    no_fault_of(all);
    BOOST_TEST(files->saved == 1);
    b.end();
}

BOOST_AUTO_TEST_CASE(who_waits_with_further_questions_is_not_dead) {
    busy_job b(2, {});
    b.c[0]->begin_renewal();
    threads all;
    std::vector<float> x(floats);
    all.start([&] {
        const parameter_servers::pull_target to[] = {{x.data(), nullptr}};
        b.c[1]->start_pull({to, 1});
        b.c[1]->wait(b.c[1]->start_pull({to, 1}));   // the server reads this behind the answer to the first
    });
    be_silent_too_long();
    b.c[0]->write(0, 0, 0, std::vector<float>(floats, 3.f));
    b.c[0]->end_renewal();
    no_fault_of(all);
    BOOST_TEST(x[0] == 3);
    b.end();
}

// Each push changes all rows alike, so that those of one moment are equal. The copy is read while others are made.
BOOST_AUTO_TEST_CASE(pushes_go_on_while_a_table_is_saved_as_it_was) {
    struct slow_files : parameter_servers::shard_files {
        std::function<void()> between;
        std::vector<float> values[2];
        std::vector<std::int64_t> keys, steps;
        float dense = 0;
        std::int64_t step = 0;
        void save(const parameter_servers::shard_view& v, const std::string&) override {
            const parameter_servers::table_view& t = v.tables[0];
            const auto half = static_cast<std::size_t>(t.rows / 2), all = static_cast<std::size_t>(t.rows);
            keys.resize(all), steps.resize(all);
            for (auto& x : values) x.resize(all * width);
            const auto read = [&](std::size_t first, std::size_t n) {
                const auto at = static_cast<std::int64_t>(first);
                t.then->keys(at, {keys.data() + first, n});
                t.then->steps(at, {steps.data() + first, n});
                for (int a = 0; a < 2; ++a)
                    t.then->floats(a, at * width + 3, {values[a].data() + first * width + 3, n * width - 3});
                for (int a = 0; a < 2; ++a) t.then->floats(a, at * width, {values[a].data() + first * width, 3});
            };
            dense = v.values[0], step = v.global_step;
            read(0, half);
            between();
            read(half, all - half);
        }
        bool load(parameter_servers::shard_view&) override { return false; }
    };
    const auto files = std::make_shared<slow_files>();
    parameter_servers::server_options o;
    o.files = files;
    busy_job b(2, o);
    const std::vector<float> g(floats, -1.f), all_rows(rows * width, -1.f);
    std::vector<std::int64_t> keys;
    for (std::int64_t k = 0; k < rows; ++k) keys.push_back(k);
    const auto push = [&] {
        b.c[0]->begin_push();
        b.c[0]->push(0, 0, g);
        b.c[0]->push_rows(0, 0, keys, all_rows);
        b.c[0]->wait(b.c[0]->commit({}, {}));
    };
    std::atomic<bool> waits{false}, goes_on{false}, over{false};
    files->between = [&] {
        for (waits = true; !goes_on;) ::usleep(1000);
    };
    threads all;
    for (int i = 0; i < 5; ++i) push();
    for (int round = 0; round < 2; ++round) {
        waits = goes_on = over = false;
        all.start([&] { b.c[1]->call(0, parameter_servers::calls::checkpoint()), over = true; });
        wait_for(waits);
        const std::int64_t before = b.server->global_step();
        for (int i = 0; i < 3; ++i) push();
        BOOST_TEST(b.server->global_step() == before + 3);
        goes_on = true;
        wait_for(over);
        BOOST_TEST(files->step == before);
        BOOST_TEST(files->dense == static_cast<float>(before));
        for (auto& x : files->values)
            BOOST_TEST(std::ranges::count(x, static_cast<float>(before)) == std::ssize(x));
        BOOST_TEST(std::ranges::count(files->steps, before - 1) == rows);
        std::ranges::sort(files->keys);
        BOOST_TEST(files->keys == keys, boost::test_tools::per_element());
    }
    no_fault_of(all);
    b.end();
}
