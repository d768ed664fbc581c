// SPDX-License-Identifier: BSL-1.0
// shows network: unknown peers: 2,000 silent connections, slow ones, wrong keys, stolen names
// needs: distributed
// waits: while strangers are slow
#define BOOST_TEST_MODULE strangers
#include <boost/test/unit_test.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/process_group.hpp>
#include "fault_proxy.hpp"
#include "processes.hpp"
#include "stranger.hpp"
#include <atomic>
#include <fcntl.h>
#include <sys/resource.h>
#include <thread>

// Who is not of the job, and connects to one of its members all the same. The job goes on.
using namespace sinter;
using wire::process_group;

static std::string said(const io::descriptor& s, const std::string& bytes, std::size_t answer) {
    (void)!::write(s.get(), bytes.data(), bytes.size());
    std::string got(answer, '\0');
    std::size_t n = 0;
    for (ssize_t k; n < answer && (k = ::read(s.get(), got.data() + n, answer - n)) > 0;)
        n += static_cast<std::size_t>(k);
    got.resize(n);
    return got;
}

/// Settings under which nothing happens merely because a machine is busy.
static cluster_options patient() {
    cluster_options o = quick(10);
    o.join_within = 50;
    return o;
}
static std::string end_of(processes& p, int i) { return p.result(i, 55); }

/// A member that counts the lines about strangers, and exchanges something now and then: thrice, or until rank 0 sees
/// that it is `enough`.
static std::string member(const cluster& c, const shared_flag* enough = nullptr, double handshake_within = 20) {
    int lines = 0;
    process_group::setup s;
    s.log = [&](const std::string&) { ++lines; };
    s.strangers.handshake_within = handshake_within;
    process_group g(c, {}, s);
    for (int round = 1; g.exchange("more?", (enough ? !enough->is_set() : round < 3) ? "yes" : "no")[0] == "yes";
         ++round)
        ::usleep(20000);
    g.leave();
    return "fine " + std::to_string(lines);
}
/// This process may open so many more descriptors, however many it was given.
static void limit_descriptors(int more) {
    rlim_t n = 0;
    for (int free = 0; free < more; ++n) free += ::fcntl(static_cast<int>(n), F_GETFD) < 0;
    const rlimit few{n, n};
    ::setrlimit(RLIMIT_NOFILE, &few);
}

BOOST_AUTO_TEST_CASE(two_thousand_silent_connections_do_not_keep_a_member_out) {
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    const rlim_t hard = most.rlim_max;
    most.rlim_cur = std::min<rlim_t>(hard, 4096);
    ::setrlimit(RLIMIT_NOFILE, &most);
    const auto at = own_addresses(2);
    const shared_flag enough;
    processes p;
    p.start([&] {
        limit_descriptors(124);
        return member(cluster::of(at, 0, patient()), &enough);
    });
    std::vector<io::descriptor> silent;
    silent.push_back(connected(at[0]));
    const rlim_t wanted = std::min<rlim_t>(2000, most.rlim_cur - 100);
    while (silent.size() < wanted / 2) silent.push_back(connected(at[0]));
    p.start([&] { silent.clear(); return member(cluster::of(at, 1, patient()), &enough); });
    while (silent.size() < wanted) silent.push_back(connected(at[0]));   // some of them while the job runs
    enough.set();
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(end_of(p, r), "fine"), p.result(r));
    BOOST_TEST_MESSAGE(silent.size() << " silent connections");
}

BOOST_AUTO_TEST_CASE(a_member_without_descriptors_goes_on_when_it_has_some) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] {   // so few that accept() fails while strangers hold theirs
        limit_descriptors(10);
        return member(cluster::of(at, 0, patient()), nullptr, 0.3);
    });
    std::vector<io::descriptor> silent;
    for (int i = 0; i < 20; ++i) silent.push_back(connected(at[0]));
    p.start([&] { silent.clear(); return member(cluster::of(at, 1, patient())); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(end_of(p, r), "fine"), p.result(r));
}

BOOST_AUTO_TEST_CASE(silent_or_slow_handshakes_are_closed) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return member(cluster::of(at, 0, patient()), nullptr, 0.6); });
    const io::descriptor silent = connected(at[0]), slow = connected(at[0]);
    std::atomic<bool> end{false};
    std::thread dripping([&] {   // a byte now and then, each of them right
        const std::string greeting = "SNRH\2";
        for (std::size_t i = 0; !end; ++i) {
            (void)!::send(slow.get(), &greeting[i % 5], 1, MSG_NOSIGNAL);
            ::usleep(100000);
        }
    });
    BOOST_TEST(is_closed(silent.get(), 15));
    BOOST_TEST(is_closed(slow.get(), 15));
    end = true;
    dripping.join();
    p.start([&] { return member(cluster::of(at, 1, patient())); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(end_of(p, r), "fine"), p.result(r));
}

BOOST_AUTO_TEST_CASE(wrong_key_is_refused_and_logged_once_a_second) {
    const auto at = own_addresses(2);
    const shared_flag enough;
    processes p;
    const double begin = base::monotonic_seconds();
    p.start([&] { return member(cluster::of(at, 0, patient()), &enough); });
    cluster_options wrong = patient();
    wrong.key = "another";
    const int refused = p.start([&] { return member(cluster::of({at[0], own_addresses(9)[8]}, 1, wrong)); });
    BOOST_TEST(holds(end_of(p, refused), "does not know the job's key"), p.result(refused));
    BOOST_TEST(holds(p.result(refused), "rank 0, worker/0 at " + at[0]), p.result(refused));
    p.start([&] { return member(cluster::of(at, 1, patient()), &enough); });
    const double first = base::monotonic_seconds();
    int attempts = 0;
    wire::greeting own;   // a stranger that knows all but the key, and comes again and again
    own.role = 1;
    own.index = own.rank = 1;
    own.size = 2;
    own.job = "test";
    for (; attempts < 40 || base::monotonic_seconds() - first < 1; ++attempts) {
        wire::handshake h(true, own, "guess " + std::to_string(attempts));
        const io::descriptor s = connected(at[0]);
        const auto text = [](span<const std::byte> b) {
            return std::string(reinterpret_cast<const char*>(b.data()), b.size());
        };
        const std::string answer = said(s, text(h.outgoing()), wire::greeting_bytes);
        BOOST_REQUIRE(answer.size() == wire::greeting_bytes);
        h.sent();
        h.receive(as_bytes(answer));
        said(s, text(h.outgoing()), 1000);
    }
    enough.set();
    const std::string zero = end_of(p, 0);
    BOOST_REQUIRE_MESSAGE(holds(zero, "fine"), zero);
    BOOST_TEST(std::stoi(zero.substr(5)) <= 2 + (base::monotonic_seconds() - begin),
               zero << " lines for " << attempts << " attempts");
    BOOST_TEST(holds(end_of(p, 2), "fine"), p.result(2));
}

BOOST_AUTO_TEST_CASE(a_recorded_connection_is_refused_when_it_comes_again) {
    const auto at = own_addresses(3);   // the last is the proxy, which records
    std::string wire;
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    const shared_flag enough;
    processes p;
    const int proxy = p.start([&] {
        fault_proxy::faults f;
        f.connection = 0;
        std::string recorded;
        f.record = &recorded;
        bool shown = false;
        fault_proxy::run(wire::parse_address(at[2], "test"), wire::parse_address(at[0], "test"), f, [&] {
            if (!shown && recorded.size() > 1000) {
                (void)!::write(ends[1], recorded.data(), recorded.size());
                shown = true;
            }
            return true;
        });
        return std::string();
    });
    for (int r = 0; r < 2; ++r)
        p.start([&, r] { return member(cluster::of({r == 0 ? at[0] : at[2], at[1]}, r, patient()), &enough); });
    ::close(ends[1]);   // reading ends when nobody can write any more
    char buffer[4096];
    const auto n = ::read(ends[0], buffer, sizeof buffer);
    BOOST_REQUIRE(n > 1000);
    wire.assign(buffer, static_cast<std::size_t>(n));
    for (int i = 0; i < 3; ++i) {
        const io::descriptor s = connected(at[0]);
        const std::string answer = said(s, wire, 5000);   // until it is closed
        BOOST_TEST(answer.size() <= wire::greeting_bytes + 384);
        BOOST_TEST(is_closed(s.get(), 15));
    }
    enough.set();
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(end_of(p, 1 + r), "fine"), p.result(1 + r));
    p.signal(proxy, SIGKILL);
    ::close(ends[0]);
}

BOOST_AUTO_TEST_CASE(unproved_peer_cannot_take_a_members_place) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return member(cluster::of(at, 0, patient())); });
    wire::greeting claim;
    claim.role = 1;
    claim.index = claim.rank = 1;
    claim.size = 2;
    claim.job = "test";
    claim.keyed = true;
    const wire::greeting_block block = wire::encode(claim);
    const io::descriptor first = connected(at[0]);   // it waits with its proof, which it cannot make
    const std::string bytes(reinterpret_cast<const char*>(block.data()), block.size());
    BOOST_TEST(said(first, bytes, wire::greeting_bytes).size() == wire::greeting_bytes);
    p.start([&] { return member(cluster::of(at, 1, patient())); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(end_of(p, r), "fine"), p.result(r));
}

BOOST_AUTO_TEST_CASE(peers_that_die_in_the_middle_of_a_handshake_are_waited_for) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return member(cluster::of(at, 0, patient())); });
    const wire::greeting g;
    const wire::greeting_block block = wire::encode(g);
    for (std::size_t n = 0; n < 20; ++n) {
        const io::descriptor s = connected(at[0]);
        (void)!::write(s.get(), block.data(), n * block.size() / 20);
        if (n % 2 == 0) {   // reset rather than closed
            const linger now{1, 0};
            ::setsockopt(s.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
    }
    p.start([&] { return member(cluster::of(at, 1, patient())); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(end_of(p, r), "fine"), p.result(r));
}
