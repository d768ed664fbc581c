// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#define BOOST_TEST_MODULE copies
#include <boost/test/unit_test.hpp>
#include <random>
#include "job.hpp"

// Shards that two servers keep: a server that is killed costs no push that was acknowledged, and none counts twice.
using namespace sinter;
using namespace sinter::server_job;

namespace {

/// What the server that leads the shard has counted of a worker.
std::int64_t counted(const std::string& json, int worker, const std::string& what) {
    std::size_t at = json.find("\"worker\": \"worker/" + std::to_string(worker) + "\"");
    at = json.find("\"" + what + "\": ", at);
    return at == std::string::npos ? -1 : std::atoll(json.c_str() + at + what.size() + 4);
}

std::string push_all(const job& j, int me, int pushes, shared_counts& counts) {
    ::alarm(200);
    client c(j.worker(me), j.identity(), j.layout(), {.reconnect_within = 20, .replicas = 2});
    if (me == 0) j.begin(c);
    c.wait_until_open();
    pusher mine(c, j, me);
    std::vector<std::vector<float>> got(static_cast<std::size_t>(j.servers), std::vector<float>(static_cast<std::size_t>(j.floats)));
    std::vector<pull_target> to;
    for (auto& g : got) to.push_back({g.data()});
    for (int k = 0; k < pushes; ++k) {
        if (!c.may_step()) return "told to stop: " + c.stop_reason();
        mine.push(counts, to);
    }
    if (me != 0) return c.leave(), "left";
    for (int i = 0; i < 60000 && std::any_of(counts.acknowledged, counts.acknowledged + j.workers, [&](const auto& n) { return n < pushes; }); ++i)
        ::usleep(1000);
    c.wait_for_others();
    std::string text;
    for (int s = 0; s < j.servers; ++s) {
        text += std::to_string(static_cast<std::int64_t>(common_value(c, j, s)));
        const std::string json = c.call(s, "counters");
        for (int w = 0; w < j.workers; ++w) text += " " + std::to_string(counted(json, w, "last")) + "/" + std::to_string(counted(json, w, "lost"));
        text += "; ";
    }
    c.leave();
    return text;
}

/// A server is killed at some place; the job goes on.
void one_is_killed(job j, int pushes, unsigned seed, int victim, int signal = SIGKILL) {
    j.replicas = 2;
    std::mt19937 random(seed);
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    for (int s = 0; s < j.servers; ++s) servers.push_back(p.start([&, s] { return ::alarm(200), j.serve(s); }));
    for (int w = 0; w < j.workers; ++w) workers.push_back(p.start([&, w] { return push_all(j, w, pushes, counts); }));
    const auto from = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(pushes / 2));
    for (int i = 0; i < 60000 && counts.begun[j.workers - 1] < from; ++i) ::usleep(500);
    BOOST_TEST(counts.begun[j.workers - 1] >= from);
    ::usleep(static_cast<useconds_t>(random() % 3000));
    p.signal(servers[static_cast<std::size_t>(victim)], signal);
    std::string each;   // all pushes of all workers, each taken once and none left out
    const std::int64_t all = std::int64_t{pushes} * j.workers;
    const std::int64_t value = all;
    for (int s = 0; s < j.servers; ++s) {
        each += std::to_string(value);
        for (int w = 0; w < j.workers; ++w) each += " " + std::to_string(pushes) + "/0";
        each += "; ";
    }
    BOOST_TEST(p.result(workers[0], 100) == each, "seed " << seed << ", server " << victim << ": " << p.result(workers[0]));
    for (int w = 1; w < j.workers; ++w) BOOST_TEST(p.result(workers[static_cast<std::size_t>(w)], 60) == "left");
    for (int s = 0; s < j.servers; ++s)
        if (s != victim) BOOST_TEST(holds(p.result(servers[static_cast<std::size_t>(s)], 60), "step "), p.result(servers[static_cast<std::size_t>(s)]));
        else if (signal == SIGKILL) BOOST_TEST(p.result(servers[static_cast<std::size_t>(s)]) == "KILLED");
}

} // namespace

BOOST_AUTO_TEST_CASE(nobody_is_killed) {
    job j{.servers = 2, .workers = 2};
    j.replicas = 2;
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> all;
    for (int s = 0; s < 2; ++s) all.push_back(p.start([&, s] { return ::alarm(60), j.serve(s); }));
    for (int w = 0; w < 2; ++w) all.push_back(p.start([&, w] { return push_all(j, w, 40, counts); }));
    BOOST_TEST(p.result(all[2]) == "80 40/0 40/0; 80 40/0 40/0; ");
    BOOST_TEST(p.result(all[3]) == "left");
    for (int s = 0; s < 2; ++s) BOOST_TEST(holds(p.result(all[static_cast<std::size_t>(s)]), "step 80 "), p.result(all[static_cast<std::size_t>(s)]));
}

BOOST_AUTO_TEST_CASE(no_push_is_lost_when_a_server_is_killed) {
    for (unsigned seed = 1; seed <= 4; ++seed) one_is_killed({.servers = 2, .workers = 3, .floats = 40000}, 60, seed, static_cast<int>(seed % 2));
    one_is_killed({.servers = 3, .workers = 2}, 100, 11, 2);
}
update_order all_together(int staleness) {
    update_order o = update_order::stale(staleness);
    o.all_join = true;
    return o;
}
BOOST_AUTO_TEST_CASE(nor_by_clocks) {
    for (unsigned seed = 1; seed <= 4; ++seed)
        one_is_killed({.servers = 2, .workers = 3, .floats = 4096, .order = all_together(seed % 2 ? 0 : 3)}, 60, seed, static_cast<int>(seed / 2 % 2));
}
