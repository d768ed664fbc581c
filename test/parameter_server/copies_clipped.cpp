// SPDX-License-Identifier: BSL-1.0
// shows servers: clipping by the norm of all gradients with second copies: the bits of an undisturbed job
// needs: distributed
// waits: until killed servers are missed, and are back
// Clipping by the norm of all gradients by clocks, where two servers keep each shard: servers add
// up the norm, and whoever is killed and whenever, all go on with the sums and the bits of a job in
// which nobody was.
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <random>
#include <sinter/base/hash.hpp>
#include <sinter/parameter_server/calls.hpp>

using namespace sinter;

namespace {

using server_job::job, server_job::shared_counts;
using parameter_servers::client, parameter_servers::update_order;

/// By the norm of all gradients. The slot tells by which sums the floats were ever updated, so that
/// it is the same on all servers.
class clipping : public parameter_servers::updater {
public:
    int scalars() const override { return 1; }
    int slots(int) const override { return 1; }
    void first_slot(int, int, float* to, const float*, std::int64_t n) const override { std::fill_n(to, n, 0.f); }
    parameter_servers::norm_need needs() const override { return parameter_servers::norm_need::all_gradients; }
    void update(int, float* p, const float* g, float* slot, std::int64_t, std::int64_t n, const float*,
                float sum) const override {
        for (std::int64_t i = 0; i < n; ++i) one(p[i], slot[i], g[i], sum);
    }
    void update_rows(int, float* table, float* slot, std::int64_t, const row_list& list, const float*,
                     float sum) const override {
        for (int k = 0; k < list.size(); ++k)
            for (int i = 0; i < list.row_floats; ++i) {
                const std::int64_t at = std::int64_t{list.key(k)} * list.row_floats + i;
                one(table[at], slot[at], list.row(k)[i], sum);
            }
    }

private:
    static void one(float& p, float& slot, float g, float sum) {
        slot = 0.9f * slot + sum;
        p = 0.99f * p - 0.1f * g / std::sqrt(sum);
    }
};

struct run_options {
    int clocks = 50;
    int victim = -1;              // a server; -1: none
    unsigned seed = 1;            // when
    int signal = SIGKILL;
    int restarts = 0;             // times that a server, each time another one, is killed and started again
};

job of(int servers, update_order order, int replicas) {
    job j{.servers = servers, .workers = 2, .floats = 2048, .order = order, .rows = 40, .replicas = replicas};
    j.options = quick(1);
    j.clips = true;
    return j;
}
update_order together(std::int64_t staleness) {
    update_order o = update_order::stale(staleness);
    o.all_join = true;
    return o;
}

std::vector<float> array_of(client& c, const job& j, int server, int array) {
    std::vector<float> x(static_cast<std::size_t>(j.floats)), rows(static_cast<std::size_t>(j.rows * 16));
    c.read(server, array, 0, x);
    c.read_rows(server, 0, array, 0, rows);
    x.insert(x.end(), rows.begin(), rows.end());
    return x;
}
/// A worker's pushes, whose gradients do not depend on values. The first tells all values at the end.
std::string work(const job& j, int me, int clocks, shared_counts& counts) {
    ::alarm(150);
    client c(j.worker(me), j.identity(), j.layout(), {.reconnect_within = 30, .replicas = j.replicas});
    if (me == 0) j.begin(c);
    c.wait_until_open();
    counts.other[8 + me] = 1;   // all are there before the first step
    while (counts.other[8] + counts.other[9] + counts.other[10] < j.workers) ::usleep(500);
    std::vector<std::vector<float>> values(static_cast<std::size_t>(j.servers),
                                           std::vector<float>(static_cast<std::size_t>(j.floats)));
    std::vector<parameter_servers::pull_target> to;
    for (auto& v : values) to.push_back({v.data()});
    std::vector<float> g(static_cast<std::size_t>(j.floats)), rows(3 * 16);
    for (int k = 0; k < clocks; ++k) {
        if (!c.may_step()) return "told to stop: " + c.stop_reason();
        std::mt19937 random(static_cast<unsigned>(me * 1000 + k));
        const auto number = [&] { return static_cast<float>(random() % 2001) / 997.f - 1; };
        c.begin_push();
        std::vector<std::int64_t> keys;
        for (int s = 0; s < j.servers; ++s) {
            for (float& x : g) x = number();
            for (float& x : rows) x = number();
            const auto first = static_cast<std::int64_t>(random() % static_cast<unsigned>(j.rows - 2));
            keys = {first, first + 1, first + 2};
            c.push(s, 0, g);
            c.push_rows(s, 0, keys, rows);
        }
        ++counts.begun[me];
        c.wait(c.commit({.loss = 1}, to));
        ++counts.acknowledged[me];
        while (me == 0 && counts.other[0] > counts.other[1]) {   // a server was started again: as long as it takes
            for (int s = 0; s < j.servers;)
                if (holds(c.call(s, parameter_servers::calls::get_counters()).json, "\"copies\": 2")) ++s;
                else ::usleep(2000);
            ++counts.other[1];
        }
    }
    if (me != 0) return c.leave(), "left";
    c.rest();
    c.wait_for_others();
    c.wait_for_clock();   // the last ones may be applied behind the last answers
    std::string text;
    std::vector<float> sums;
    for (int s = 0; s < j.servers; ++s) {
        const std::vector<float> p = array_of(c, j, s, 0), slot = array_of(c, j, s, 1);
        for (const auto* x : {&p, &slot})
            text += std::to_string(base::fnv1a({reinterpret_cast<const char*>(x->data()), x->size() * 4})) + " ";
        sums.insert(sums.end(), slot.begin(), slot.begin() + j.floats);
    }
    c.leave();
    for (const float x : sums)
        if (!(x == sums[0] && x > 0)) return "servers were told other sums";
    return text;
}

std::string run(const job& j, const run_options& with) {
    std::mt19937 random(with.seed);
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    const auto serve = [&](int s) { return p.start([&, s] { return ::alarm(150), j.serve<clipping>(s); }); };
    for (int s = 0; s < j.servers; ++s) servers.push_back(serve(s));
    for (int w = 0; w < j.workers; ++w) workers.push_back(p.start([&, w] { return work(j, w, with.clocks, counts); }));
    const auto wait_for = [&](std::int64_t n) {
        for (int i = 0; i < 80000 && counts.begun[1] < n; ++i) ::usleep(500);
        BOOST_TEST(counts.begun[1] >= n);
        ::usleep(static_cast<useconds_t>(random() % 3000));
    };
    if (with.victim >= 0) {
        const auto victim = static_cast<std::size_t>(with.victim);
        wait_for(1 + random() % static_cast<unsigned>(with.clocks / 2));
        p.signal(servers[victim], with.signal);
        if (with.signal == SIGSTOP) {   // until the others go on without it
            const std::int64_t gone = counts.acknowledged[0];
            for (int i = 0; i < 60000 && counts.acknowledged[0] < gone + 5; ++i) ::usleep(1000);
            p.signal(servers[victim], SIGCONT);
        }
    }
    for (int k = 0; k < with.restarts; ++k) {
        const auto victim = static_cast<std::size_t>(k % j.servers);
        wait_for(with.clocks * (k + 1) / (with.restarts + 2));
        p.signal(servers[victim], SIGKILL);
        BOOST_TEST(p.result(servers[victim]) == "KILLED");
        servers[victim] = serve(static_cast<int>(victim));
        ++counts.other[0];
        for (int i = 0; i < 40000 && counts.other[1] < counts.other[0]; ++i) ::usleep(1000);
        BOOST_TEST(counts.other[1] == counts.other[0], "the second copy is back");
    }
    const std::string said = p.result(workers[0], 100);
    for (int w = 1; w < j.workers; ++w) BOOST_TEST(p.result(workers[static_cast<std::size_t>(w)], 60) == "left");
    for (int s = 0; s < j.servers; ++s)
        if (s != with.victim || with.signal != SIGKILL)
            BOOST_TEST(holds(p.result(servers[static_cast<std::size_t>(s)], 60), "step "),
                       p.result(servers[static_cast<std::size_t>(s)]));
    return said;
}

/// Hashes, and no word of why there are none.
bool has_values(const std::string& said) {
    return !said.empty() && said.find_first_not_of("0123456789abcdef ") == said.npos;
}
BOOST_AUTO_TEST_CASE(a_killed_server_changes_no_bit_of_what_is_clipped) {
    for (const std::int64_t staleness : {0, 2}) {
        const std::string expected = run(of(2, together(staleness), 1), {});
        BOOST_TEST(has_values(expected), expected);
        BOOST_TEST(run(of(2, together(staleness), 2), {}) == expected);
        for (unsigned seed = 1; seed <= 4; ++seed)
            BOOST_TEST(run(of(2, together(staleness), 2), {.victim = static_cast<int>(seed % 2), .seed = seed}) ==
                       expected, "staleness " << staleness << ", seed " << seed);
    }
}
BOOST_AUTO_TEST_CASE(nor_of_three_that_come_again) {
    const std::string expected = run(of(3, together(1), 1), {.clocks = 120});
    BOOST_TEST(has_values(expected), expected);
    for (const int victim : {0, 1, 2})
        BOOST_TEST(run(of(3, together(1), 2), {.clocks = 120, .victim = victim, .seed = 9}) == expected,
                   "server " << victim);
    BOOST_TEST(run(of(3, together(1), 2), {.clocks = 120, .restarts = 4}) == expected);
}
BOOST_AUTO_TEST_CASE(nor_does_one_that_was_stopped) {
    const std::string expected = run(of(2, together(0), 1), {});
    BOOST_TEST(has_values(expected), expected);
    for (const int victim : {0, 1})
        BOOST_TEST(run(of(2, together(0), 2), {.victim = victim, .seed = 3, .signal = SIGSTOP}) == expected,
                   "server " << victim);
}
/// Whose pushes make a clock depends on who is first; that all servers take the same does not.
BOOST_AUTO_TEST_CASE(with_backup_workers_all_servers_have_the_same_sums) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        job j = of(2, update_order::sync(1), 2);
        j.workers = 3;
        const std::string said = run(j, {.victim = static_cast<int>(seed % 2), .seed = seed});
        BOOST_TEST(has_values(said), said);
    }
}

} // namespace
