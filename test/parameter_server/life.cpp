// SPDX-License-Identifier: BSL-1.0
// shows servers: any order of starts; dead servers are named; one asks, all stop; no step too many
// needs: distributed
// waits: until the dead are missed and join_within is over
#define BOOST_TEST_MODULE life
#include <boost/test/unit_test.hpp>
#include "restarting.hpp"
#include <dirent.h>

// How servers and workers begin and end, and what they leave behind.
using namespace sinter;
using namespace sinter::server_job;

static std::string named(const processes&, const job& j, int server) {
    return "ps/" + std::to_string(server) + " at " + j.at[static_cast<std::size_t>(j.workers + server)];
}

/// A worker that pushes until it is told to stop, or what it is told of an error.
static std::string push_until_stop(const job& j, int w, shared_counts& counts, client_options with = {}) {
    client c(j.worker(w), j.identity(), j.layout(), with);
    if (w == 0) j.begin(c);
    c.wait_until_open();
    pusher mine(c, j, w);
    try {
        while (c.may_step()) mine.push(counts);
        return "told to stop";
    } catch (const cluster_error& e) {
        return e.what();
    }
}

BOOST_AUTO_TEST_CASE(any_order_of_starts) {
    // a worker's first words may come before, while and after a server is made
    for (unsigned seed = 1; seed <= 12; ++seed) {
        const job j{.servers = 2, .workers = 2, .floats = 256};
        shared_counts& counts = shared_counts::make();
        processes p;
        std::vector<int> all;
        const auto delay = [&](unsigned i) { return 0.03 * ((seed * 7 + i * 5) % 4); };
        for (int w = 0; w < 2; ++w)
            all.push_back(p.start([&, w] { return work(j, w, 5, counts); }, delay(static_cast<unsigned>(w))));
        for (int s = 0; s < 2; ++s)
            all.push_back(p.start([&, s] { return j.serve(s); }, delay(static_cast<unsigned>(2 + s))));
        BOOST_TEST(p.result(all[0]) == "values 10 10", seed << ": " << p.result(all[0]));
        BOOST_TEST(p.result(all[1]) == "left", seed << ": " << p.result(all[1]));
        for (int s = 2; s < 4; ++s) BOOST_TEST(holds(p.result(all[static_cast<std::size_t>(s)]), "step 10 "), seed);
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_never_comes_is_named) {
    job j{.servers = 2, .workers = 1, .floats = 256};
    j.options.join_within = 1;
    shared_counts& counts = shared_counts::make();
    processes p;
    const int server = p.start([&] { return j.serve(0); });
    const int worker = p.start([&] { return work(j, 0, 5, counts); });
    BOOST_TEST(holds(p.result(worker), named(p, j, 1)), p.result(worker));
    p.signal(server, SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_server_that_dies_and_stays_dead_is_named_by_all_workers) {
    const job j{.servers = 2, .workers = 2, .floats = 256, .options = quick(1)};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    const folder f;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return serve(j, s, f.file(s)); }));
    for (int w = 0; w < 2; ++w)
        workers.push_back(p.start([&, w] { return push_until_stop(j, w, counts, {.reconnect_within = 1}); }));
    for (int i = 0; i < 100000 && (counts.acknowledged[0] < 20 || counts.acknowledged[1] < 20); ++i) ::usleep(1000);
    for (int i = 0; i < 100000 && !(std::filesystem::exists(f.file(0)) && std::filesystem::exists(f.file(1))); ++i)
        ::usleep(1000);
    p.signal(servers[1], SIGKILL);
    for (const int w : workers) {
        BOOST_TEST(holds(p.result(w), named(p, j, 1)), p.result(w));
    }
    // No worker is left, and none has left in peace: the other server ends, too, and says so. Both have checkpoints.
    BOOST_TEST(holds(p.result(servers[0]), "error: "), p.result(servers[0]));
    for (int s = 0; s < 2; ++s) {
        const std::vector<float> saved = one_file(f.file(s)).values(j);
        BOOST_TEST(saved.size() == static_cast<std::size_t>(j.floats));
        for (const float x : saved) BOOST_TEST((x == saved[0] && x >= 10));
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_comes_back_without_what_it_kept_ends_the_job) {
    const job j{.servers = 2, .workers = 2, .floats = 256};
    shared_counts& counts = shared_counts::make();
    processes p;
    std::vector<int> servers, workers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));   // no checkpoints
    for (int w = 0; w < 2; ++w)
        workers.push_back(p.start([&, w] { return push_until_stop(j, w, counts); }));
    for (int i = 0; i < 100000 && (counts.acknowledged[0] < 20 || counts.acknowledged[1] < 20); ++i) ::usleep(1000);
    p.signal(servers[1], SIGKILL);
    BOOST_TEST(p.result(servers[1]) == "KILLED");
    servers[1] = p.start([&] { return j.serve(1); });
    for (const int w : workers) {
        BOOST_TEST(holds(p.result(w), named(p, j, 1)), p.result(w));
        BOOST_TEST(holds(p.result(w), "without a checkpoint"), p.result(w));
    }
    for (const int s : servers) p.signal(s, SIGKILL);
}

BOOST_AUTO_TEST_CASE(one_asks_and_all_stop) {
    const job j{.servers = 2, .workers = 3, .floats = 256};
    processes p;
    std::vector<int> servers, workers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
    for (int w = 0; w < 3; ++w)
        workers.push_back(p.start([&, w] {
            client c(j.worker(w), j.identity(), j.layout());
            if (w == 0) j.begin(c);
            c.wait_until_open();
            shared_counts none;
            pusher mine(c, j, w);
            for (int k = 0; c.may_step(); ++k) {
                mine.push(none);
                if (w == 2 && k == 20) c.ask_all_to_stop("somebody pressed a key");
            }
            const std::string why = c.stop_reason();
            c.leave();
            return why;
        }));
    for (const int w : workers) BOOST_TEST(holds(p.result(w), "somebody pressed a key"), p.result(w));
    for (const int s : servers) BOOST_TEST(holds(p.result(s), "step "), p.result(s));
}

BOOST_AUTO_TEST_CASE(no_step_more_than_asked_for) {
    const job j{.servers = 2, .workers = 3, .floats = 256, .options = quick(1)};
    processes p;
    std::vector<int> servers, workers;
    for (int s = 0; s < 2; ++s) servers.push_back(p.start([&, s] { return j.serve(s); }));
    shared_counts& counts = shared_counts::make();
    for (int w = 0; w < 3; ++w)
        workers.push_back(p.start([&, w] {
            client c(j.worker(w), j.identity(), j.layout());
            if (w == 0) j.begin(c, 500);
            c.wait_until_open();
            pusher mine(c, j, w);
            while (c.may_step()) {
                mine.push(counts);
                if (w == 2 && counts.acknowledged[2] == 5) std::raise(SIGKILL);   // with a ticket or without
            }
            std::string text = "left";
            if (w == 0)
                c.wait_for_others(),
                    text = std::to_string(common_value(c, j, 0)) + " " + std::to_string(common_value(c, j, 1));
            c.leave();
            return text;
        }));
    BOOST_TEST(p.result(workers[0]) == "500.000000 500.000000");
    BOOST_TEST(p.result(workers[1]) == "left");
    BOOST_TEST(p.result(workers[2]) == "KILLED");
    for (const int s : servers) BOOST_TEST(holds(p.result(s), "step 500 "), p.result(s));
}

struct footprint { int descriptors = 0, threads = 0; long kib = 0; };
static footprint of_process(pid_t pid) {
    const std::string at = "/proc/" + std::to_string(pid);
    footprint f;
    DIR* const d = ::opendir((at + "/fd").c_str());
    while (d && ::readdir(d)) ++f.descriptors;
    if (d) ::closedir(d);
    std::ifstream status(at + "/status");
    for (std::string word; status >> word;)
        if (word == "Threads:") status >> f.threads;
        else if (word == "VmRSS:") status >> f.kib;
    return f;
}

BOOST_AUTO_TEST_CASE(many_restarts_leak_nothing) {
    const job j{.servers = 1, .workers = 2, .floats = 4096};
    shared_counts& counts = shared_counts::make();
    processes p;
    const int server = p.start([&] { return j.serve(0); });
    const int stays = p.start([&] {
        client c(j.worker(0), j.identity(), j.layout());
        j.begin(c);
        pusher mine(c, j, 0);
        while (!counts.enough && c.may_step()) mine.push(counts), ::usleep(5000);
        c.leave();
        return std::string("left");
    });
    const int many = p.start([&] {
        footprint first, last;
        for (int life = 0; life <= 150; ++life) {
            client c(j.worker(1), j.identity(), j.layout());
            c.wait_until_open();
            pusher mine(c, j, 1);
            if (c.may_step()) mine.push(counts);
            if (life == 50) first = of_process(::getpid());
            if (life == 150) last = of_process(::getpid());
            if (life % 2) c.leave();   // else its destructor does
            ++counts.other[0];
        }
        std::ostringstream out;
        out << last.descriptors - first.descriptors << ' ' << last.threads - first.threads << ' '
            << (last.kib > first.kib + 1024 ? "grew" : "no more memory");
        return out.str();
    });
    for (int i = 0; i < 100000 && counts.other[0] < 50; ++i) ::usleep(1000);
    const footprint before = of_process(p.pid(server));
    BOOST_TEST(p.result(many, 60) == "0 0 no more memory");
    const footprint after = of_process(p.pid(server));
    BOOST_TEST(after.descriptors <= before.descriptors + 2);
    BOOST_TEST(after.threads <= before.threads + 2);
    BOOST_TEST(after.kib <= before.kib + 2048, before.kib << " then " << after.kib);
    counts.enough = true;
    BOOST_TEST(p.result(stays) == "left");
    BOOST_TEST(holds(p.result(server), "step "), p.result(server));
}
