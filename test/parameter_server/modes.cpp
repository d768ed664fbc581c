// SPDX-License-Identifier: BSL-1.0
// shows servers: modes: workers that return, die, are late or have values that are not finite
// needs: distributed
// waits: until workers that died are missed
#define BOOST_TEST_MODULE modes
#include <boost/test/unit_test.hpp>
#include "job.hpp"

// Slow, dead and returning workers under servers that update by clocks.
using namespace sinter;
using namespace sinter::server_job;

/// Pushes `n` times the value `value` to all floats, with a pause; then the newest common value of
/// server 0. `before` is called with the number of the push and its clock.
static std::string push_values(const job& j, int w, int n, float value, double pause, shared_counts& counts,
                               const std::function<void(int, std::int64_t)>& before = {}) {
    client c(j.worker(w), j.identity(), j.layout());
    if (w == 0) j.begin(c);
    c.wait_until_open();
    ++counts.begun[w];   // all are there before the first push
    for (int i = 0; i < j.workers; ++i)
        for (int k = 0; k < 100000 && counts.begun[i] == 0; ++k) ::usleep(1000);
    const std::vector<float> g(static_cast<std::size_t>(j.floats), value);
    std::vector<float> got(g.size());
    const std::vector<pull_target> to(static_cast<std::size_t>(j.servers), pull_target{});
    std::int64_t late = 0;
    for (int k = 0; k < n && !counts.enough; ++k) {
        if (!c.may_step()) break;
        if (pause > 0) ::usleep(static_cast<useconds_t>(pause * 1e6));
        if (before) before(k, c.next_clock());
        c.begin_push();
        for (int s = 0; s < j.servers; ++s) c.push(s, 0, g);
        std::vector<pull_target> wants = to;
        wants[0].values = got.data();
        c.wait(c.commit({.loss = 1}, wants));
        late += c.last().push == answer_info::fate::late;
        ++counts.acknowledged[w];
        counts.other[w] = c.last().clock;
    }
    std::ostringstream out;
    out << "late " << late << " clock " << c.last().clock << " step " << c.last().global_step << " value " << got[0];
    c.leave();
    return out.str();
}
static double number_behind(const std::string& text, const std::string& word) {
    const auto at = text.find(word + " ");
    return at == std::string::npos ? -1 : std::atof(text.c_str() + at + word.size() + 1);
}

BOOST_AUTO_TEST_CASE(what_a_backup_worker_sends_too_late_is_dropped_and_never_mixed_in) {
    const job j{.servers = 1, .workers = 3, .floats = 256, .order = update_order::sync(1)};
    shared_counts& counts = shared_counts::make();
    processes p;
    const int server = p.start([&] { return j.serve(0); });
    std::vector<int> w;
    // The third pushes to clocks that are applied already, and the first gives it the time to do so four times.
    w.push_back(p.start([&] {
        return push_values(j, 0, 40, 1, 0, counts, [&](int k, std::int64_t) {
            while (k % 10 == 9 && counts.acknowledged[2] < k / 10 + 1) ::usleep(1000);
        });
    }));
    w.push_back(p.start([&] { return push_values(j, 1, 40, 1, 0, counts); }));
    w.push_back(p.start([&] {
        return push_values(j, 2, 1000, 1000, 0, counts, [&](int, std::int64_t clock) {
            while (counts.other[0] <= clock && !counts.enough) ::usleep(1000);
        });
    }));
    const std::string fast = p.result(w[0]);
    BOOST_TEST(number_behind(fast, "value") < 1000, fast);   // nothing of the slow one was in time
    counts.enough = true;
    BOOST_TEST(holds(p.result(w[1]), "late"), p.result(w[1]));
    BOOST_TEST(number_behind(p.result(w[2]), "late") >= 4, p.result(w[2]));
    std::istringstream told(p.result(server));
    std::string word;
    std::int64_t step = 0;
    told >> word >> step;
    BOOST_TEST(step >= 40, told.str());
}

BOOST_AUTO_TEST_CASE(a_dead_worker_is_not_waited_for) {
    for (const update_order order : {update_order::stale(0), update_order::stale(3), update_order::sync()}) {
        const job j{.servers = 2, .workers = 3, .floats = 256, .order = order, .options = quick(2)};
        shared_counts& counts = shared_counts::make();
        processes p;
        std::vector<int> servers, w;
        for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
        for (int i = 0; i < 3; ++i) w.push_back(p.start([&, i] { return push_values(j, i, 100, 1, 0.002, counts); }));
        for (int i = 0; i < 100000 && counts.acknowledged[2] < 10; ++i) ::usleep(1000);
        p.signal(w[2], SIGKILL);
        for (int i = 0; i < 2; ++i) {
            const std::string text = p.result(w[static_cast<std::size_t>(i)]);
            BOOST_TEST(number_behind(text, "clock") >= 100, text);   // who came last began at the others' clock
            BOOST_TEST(holds(text, "late 0"), text);
        }
        for (const int s : servers) BOOST_TEST(number_behind(p.result(s), "step") >= 100, p.result(s));
    }
}

BOOST_AUTO_TEST_CASE(a_stopped_worker_is_not_waited_for_and_may_come_back) {
    const job j{.servers = 1, .workers = 2, .floats = 256, .order = update_order::stale(1), .options = quick(1)};
    shared_counts& counts = shared_counts::make();
    processes p;
    const int server = p.start([&] { return j.serve(0); });
    std::vector<int> w;
    for (int i = 0; i < 2; ++i)
        w.push_back(p.start([&, i] { return push_values(j, i, i == 0 ? 400 : 50, 1, 0.01, counts); }));
    for (int i = 0; i < 100000 && counts.acknowledged[1] < 10; ++i) ::usleep(1000);
    p.signal(w[1], SIGSTOP);
    const std::int64_t then = counts.acknowledged[0];
    for (int i = 0; i < 100000 && counts.acknowledged[0] < then + 30; ++i) ::usleep(1000);
    BOOST_TEST(counts.acknowledged[0] >= then + 30);   // dead after a second, and no longer waited for
    p.signal(w[1], SIGCONT);
    const std::string back = p.result(w[1]);
    BOOST_TEST((holds(back, "clock ") || holds(back, "removed") || holds(back, "stopped")), back);
    BOOST_TEST(number_behind(p.result(w[0]), "clock") >= 400, p.result(w[0]));
    BOOST_TEST(holds(p.result(server), "step "), p.result(server));
}

BOOST_AUTO_TEST_CASE(a_worker_that_comes_back_begins_at_the_clock_of_the_others) {
    const job j{.servers = 2, .workers = 3, .floats = 256, .order = update_order::stale(2)};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, w;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
    const auto push = [&](int worker) { return push_values(j, worker, 1000000, 1, 0.004, counts); };
    for (int i = 0; i < 3; ++i) w.push_back(p.start([&, i] { return push(i); }));
    for (int life = 0; life < 4; ++life) {
        const std::int64_t from = counts.acknowledged[2];
        for (int i = 0; i < 100000 && counts.acknowledged[2] < from + 10; ++i) ::usleep(1000);
        BOOST_TEST(counts.acknowledged[2] >= from + 10, "life " << life << ": " << counts.acknowledged[2]);
        // Read while both go on: each clock is two before or behind the other's at most, and told one later.
        const std::int64_t first = counts.other[0], here = counts.other[2], then = counts.other[0];
        BOOST_TEST((first - here <= 2 + 2 && here - then <= 2 + 2), first << " to " << then << " and " << here);
        p.signal(w[2], SIGKILL);
        BOOST_TEST(p.result(w[2]) == "KILLED");
        w[2] = p.start([&] { return push(2); });
    }
    counts.enough = true;
    for (int i = 0; i < 2; ++i)
        BOOST_TEST(number_behind(p.result(w[static_cast<std::size_t>(i)]), "clock") >= 30,
                   p.result(w[static_cast<std::size_t>(i)]));
    BOOST_TEST(holds(p.result(w[2]), "clock"), p.result(w[2]));
    for (const int s : servers) BOOST_TEST(holds(p.result(s), "step "), p.result(s));
}

BOOST_AUTO_TEST_CASE(more_backup_workers_die_than_there_are) {
    const job j{.servers = 1, .workers = 3, .floats = 256, .order = update_order::sync(1), .options = quick(1)};
    shared_counts& counts = shared_counts::make();
    processes p;
    const int server = p.start([&] { return j.serve(0); });
    std::vector<int> w;
    for (int i = 0; i < 3; ++i) w.push_back(p.start([&, i] { return push_values(j, i, 1000000, 1, 0.005, counts); }));
    for (int i = 0; i < 100000 && counts.acknowledged[2] < 10; ++i) ::usleep(1000);
    p.signal(w[2], SIGKILL);   // the backup: no effect
    const std::int64_t then = counts.acknowledged[0];
    for (int i = 0; i < 100000 && counts.acknowledged[0] < then + 50; ++i) ::usleep(1000);
    BOOST_TEST(counts.acknowledged[0] >= then + 50);
    p.signal(w[1], SIGKILL);
    for (const int i : {w[0], server}) {   // more than it does without: those that are dead are named
        BOOST_TEST(holds(p.result(i), "error: "), p.result(i));
        BOOST_TEST(holds(p.result(i), "2 of 3 workers are dead (worker/1, worker/2)"), p.result(i));
    }
}

BOOST_AUTO_TEST_CASE(a_push_that_is_not_finite_updates_nothing) {
    for (const update_order order : {update_order::async(), update_order::sync()}) {
        const job j{.servers = 2, .workers = 2, .floats = 256, .order = order};
        shared_counts& counts = shared_counts::make();
        processes p;
        std::vector<int> all;
        for (int s = 0; s < 2; ++s) all.push_back(p.start([&, s] { return j.serve(s); }));
        for (int w = 0; w < 2; ++w)
            all.push_back(p.start([&, w] {
                client c(j.worker(w), j.identity(), j.layout());
                if (w == 0) j.begin(c);
                c.wait_until_open();
                ++counts.begun[w];   // they begin together
                for (int i = 0; i < 100000 && counts.begun[1 - w] == 0; ++i) ::usleep(1000);
                std::vector<float> g(static_cast<std::size_t>(j.floats), 1.f);
                for (int k = 0; k < 10; ++k) {
                    if (!c.may_step()) return std::string("told to stop");
                    const bool bad = w == 1 && k == 4;
                    g[77] = bad ? NAN : 1.f;
                    c.begin_push();
                    for (int s = 0; s < 2; ++s) c.push(s, 0, g);
                    c.wait(c.commit({.loss = bad ? NAN : 1., .finite = !bad}));
                }
                std::string text = "left";
                ++counts.acknowledged[w];
                if (w == 0) {
                    for (int i = 0; i < 100000 && counts.acknowledged[1] == 0; ++i) ::usleep(1000);
                    c.wait_for_others();
                    text = std::to_string(common_value(c, j, 0)) + " " + std::to_string(common_value(c, j, 1));
                }
                c.leave();
                return text;
            }));
        const double right = order.mode == update_mode::async ? 19 : 18;
        BOOST_TEST(p.result(all[2]) == std::to_string(float(right)) + " " + std::to_string(float(right)));
        BOOST_TEST(p.result(all[3]) == "left");
        for (int s = 0; s < 2; ++s)
            BOOST_TEST(holds(p.result(all[static_cast<std::size_t>(s)]), "step "),
                       p.result(all[static_cast<std::size_t>(s)]));
    }
}
