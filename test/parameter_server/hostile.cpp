// SPDX-License-Identifier: BSL-1.0
// shows servers: wrong keys, recordings, garbage, slow connections, stolen names, other models
// needs: distributed
// waits: until strangers are shut out
#define BOOST_TEST_MODULE hostile
#include <boost/test/unit_test.hpp>
#include <sinter/net/service.hpp>
#include "../net/fault_proxy.hpp"
#include "../net/stranger.hpp"
#include "job.hpp"
#include <random>
#include <sys/resource.h>

// Who is not of the job, and connects to a server all the same. It costs the server nothing: every push counts once.
using namespace sinter;
using server_job::job;
using server_job::running;

static const job two_workers{.servers = 1, .workers = 2, .floats = 1024, .options = quick(5)};

static void say(const io::descriptor& s, const std::string& bytes) {
    (void)!::send(s.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

BOOST_AUTO_TEST_CASE(two_thousand_silent_connections) {
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = std::min<rlim_t>(most.rlim_max, 4096);
    ::setrlimit(RLIMIT_NOFILE, &most);
    processes p;
    const job j = two_workers;
    server_job::shared_counts& counts = server_job::shared_counts::make();
    const int server = p.start([&] {
        const rlimit few{128, 128};
        ::setrlimit(RLIMIT_NOFILE, &few);
        return j.serve(0);
    });
    std::vector<io::descriptor> silent;
    const auto crowd = [&](std::size_t n) {
        while (silent.size() < n) silent.push_back(connected(j.at[2]));
    };
    const std::size_t all = std::min<std::size_t>(2000, most.rlim_cur - 100);
    crowd(all / 2);
    std::vector<int> workers;
    for (int w = 0; w < 2; ++w)
        workers.push_back(p.start([&, w] { return silent.clear(), server_job::work(j, w, 100, counts, 0.01); }));
    crowd(all);   // the rest while they work
    BOOST_TEST(p.result(workers[1]) == "left");
    BOOST_TEST(p.result(workers[0]) == "values 200");
    BOOST_TEST(holds(p.result(server), "step 200 "), p.result(server));
    BOOST_TEST(silent.size() == all);
}

BOOST_AUTO_TEST_CASE(one_byte_now_and_then) {
    processes p;
    running r(p, two_workers, 650, 0.01);
    const io::descriptor silent = connected(two_workers.at[2]), slow = connected(two_workers.at[2]);
    bool closed = false;
    for (int i = 0; i < 70 && !closed; ++i) {   // a server waits five seconds for a handshake
        say(slow, std::string(1, "SNRH\2"[i % 5]));
        closed = is_closed(slow.get(), 0.1);
    }
    BOOST_TEST(closed);
    BOOST_TEST(is_closed(silent.get(), 60));
    BOOST_TEST(r.trouble() == "");
}

BOOST_AUTO_TEST_CASE(garbage) {
    processes p;
    running r(p, two_workers, 200, 0.005);
    std::mt19937 random(3);
    for (int i = 0; i < 300; ++i) {
        const io::descriptor s = connected(two_workers.at[2]);
        std::string bytes(random() % 3000, '\0');
        for (char& c : bytes) c = static_cast<char>(random());
        if (i % 3 == 0) bytes = "SNRH\2" + bytes;
        if (i % 5 == 0) bytes.assign(3000, i % 2 == 0 ? '\0' : '\xff');
        say(s, bytes);
    }
    BOOST_TEST(r.trouble() == "");
}

BOOST_AUTO_TEST_CASE(a_wrong_key) {
    processes p;
    running r(p, two_workers, 200, 0.005);
    r.wait_for(1, 5);
    job wrong = two_workers;
    wrong.options.key = "another";
    for (const int w : {0, 1}) {
        server_job::shared_counts& none = server_job::shared_counts::make();
        const int refused = p.start([&] { return server_job::work(wrong, w, 1, none); });
        BOOST_TEST(holds(p.result(refused), "does not know the job's key"), p.result(refused));
        BOOST_TEST(holds(p.result(refused), "ps/0 at " + two_workers.at[2]), p.result(refused));
    }
    BOOST_TEST(r.trouble() == "");
}

BOOST_AUTO_TEST_CASE(unproved_peer_claims_to_be_a_worker) {
    processes p;
    const job j = two_workers;
    server_job::shared_counts& counts = server_job::shared_counts::make();
    const int server = p.start([&] { return j.serve(0); });
    std::vector<io::descriptor> waiting;
    for (int w = 0; w < 2; ++w)   // before the real ones come: all that can be said without the key
        for (const bool whole : {true, false}) {
            const wire::greeting claim = wire::service_greeting(j.worker(w), j.identity());
            const wire::greeting_block block = wire::encode(claim);
            waiting.push_back(connected(j.at[2]));
            say(waiting.back(),
                std::string(reinterpret_cast<const char*>(block.data()), block.size() - (whole ? 0 : 1)));
        }
    std::vector<int> workers;
    for (int w = 0; w < 2; ++w)
        workers.push_back(p.start([&, w] { return waiting.clear(), server_job::work(j, w, 20, counts); }));
    BOOST_TEST(p.result(workers[0]) == "values 40");
    BOOST_TEST(p.result(workers[1]) == "left");
    BOOST_TEST(holds(p.result(server), "step 40 "), p.result(server));
}

BOOST_AUTO_TEST_CASE(a_recorded_connection_comes_again) {
    processes p;
    const job j = two_workers;
    server_job::shared_counts& counts = server_job::shared_counts::make();
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    constexpr std::size_t wanted = 20000;   // the handshake and a few pushes
    const int proxy = p.start([&] {
        std::string recorded;
        fault_proxy::faults f;
        f.connection = 0;
        f.record = &recorded;
        bool shown = false;
        fault_proxy::run(wire::parse_address(j.at[5], "test"), wire::parse_address(j.at[2], "test"), f, [&] {
            if (!shown && recorded.size() > wanted) shown = ::write(ends[1], recorded.data(), wanted) > 0;
            return true;
        });
        return std::string();
    });
    const int server = p.start([&] { return j.serve(0); });
    std::vector<int> workers;
    for (int w = 0; w < 2; ++w)
        workers.push_back(p.start([&, w] {
            job seen = j;
            if (w == 1) seen.at[2] = j.at[5];
            return server_job::work(seen, w, 200, counts, 0.005);
        }));
    std::string wire(wanted, '\0');
    for (std::size_t n = 0; n < wanted;) {
        const auto k = ::read(ends[0], wire.data() + n, wanted - n);
        BOOST_REQUIRE(k > 0);
        n += static_cast<std::size_t>(k);
    }
    for (int i = 0; i < 5; ++i) {   // while the worker lives whose words these are
        const io::descriptor s = connected(j.at[2]);
        say(s, wire);
        BOOST_TEST(is_closed(s.get(), 7));
    }
    BOOST_TEST(p.result(workers[0]) == "values 400");
    BOOST_TEST(p.result(workers[1]) == "left");
    BOOST_TEST(holds(p.result(server), "step 400 "), p.result(server));
    p.signal(proxy, SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(who_differs_is_refused_and_learns_why) {
    processes p;
    running r(p, two_workers, 200, 0.005);
    r.wait_for(1, 5);
    const auto refused = [&](const char* what, auto change) {
        const int i = p.start([&] {
            job other = two_workers;
            wire::identity same = other.identity();
            change(other, same);
            parameter_servers::client c(other.worker(1), same, other.layout());
            return std::string("taken");
        });
        BOOST_TEST(holds(p.result(i), what), what << ": " << p.result(i));
        BOOST_TEST(holds(p.result(i), "ps/0"), p.result(i));
    };
    refused("model", [](job&, wire::identity& s) { s.model = 7; });
    refused("layout", [](job&, wire::identity& s) { s.layout = 7; });
    refused("strateg", [](job&, wire::identity& s) { s.policy = 7; });
    refused("job", [](job& j, wire::identity&) { j.options.job = "another"; });
    BOOST_TEST(r.trouble() == "");
}

BOOST_AUTO_TEST_CASE(it_listens_at_its_own_address_alone) {
    processes p;
    running r(p, two_workers, 200, 0.005);
    r.wait_for(1, 5);
    host_port elsewhere = wire::parse_address(two_workers.at[2], "test");
    elsewhere.host = "127.0.0.1";
    const wire::endpoint e = wire::resolve(elsewhere).endpoints.at(0);
    const io::descriptor s(::socket(e.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_TEST(::connect(s.get(), e.address(), e.size) != 0);
    BOOST_TEST(r.trouble() == "");
}

BOOST_AUTO_TEST_CASE(a_server_that_is_started_twice) {
    processes p;
    running r(p, two_workers, 100, 0.005);
    r.wait_for(1, 5);
    const int again = p.start([&] { return two_workers.serve(0); });
    BOOST_TEST(holds(p.result(again), "started twice"), p.result(again));
    BOOST_TEST(r.trouble() == "");
}
