// SPDX-License-Identifier: BSL-1.0
// needs: distributed
#define BOOST_TEST_MODULE strangers
#include <boost/test/unit_test.hpp>
#include <sinter/net/process_group.hpp>
#include "fault_proxy.hpp"
#include "processes.hpp"
#include <atomic>
#include <sys/resource.h>
#include <thread>

// Who is not of the job, and connects to one of its members all the same. The job goes on.
using namespace sinter;
using wire::process_group;

static io::descriptor connected(const std::string& at) {
    const wire::endpoint e = wire::resolve(wire::parse_address(at, "test")).endpoints.at(0);
    io::descriptor s(::socket(e.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    for (int i = 0; i < 200; ++i) {
        if (::connect(s.get(), e.address(), e.size) == 0) return s;
        ::usleep(10000);
    }
    io::throw_io_error(errno, "cannot connect", at);
}
/// Whether the other end closes within so many seconds, whatever it says before.
static bool is_closed(int socket, double within) {
    const double until = base::monotonic_seconds() + within;
    char buffer[1000];
    while (base::monotonic_seconds() < until) {
        pollfd p{socket, POLLIN, 0};
        if (::poll(&p, 1, 50) > 0 && ::read(socket, buffer, sizeof buffer) <= 0) return true;
    }
    return false;
}
static std::string said(const io::descriptor& s, const std::string& bytes, std::size_t answer) {
    (void)!::write(s.get(), bytes.data(), bytes.size());
    std::string got(answer, '\0');
    std::size_t n = 0;
    for (ssize_t k; n < answer && (k = ::read(s.get(), got.data() + n, answer - n)) > 0;)
        n += static_cast<std::size_t>(k);
    got.resize(n);
    return got;
}

/// A member that waits for `rounds` exchanges, a tenth of a second apart, and counts the lines about strangers.
static std::string member(const cluster& c, int rounds, double handshake_within = 5) {
    int lines = 0;
    process_group::setup s;
    s.log = [&](const std::string&) { ++lines; };
    s.strangers.handshake_within = handshake_within;
    process_group g(c, {}, s);
    for (int i = 0; i < rounds; ++i) {
        g.exchange("round", std::to_string(i));
        ::usleep(100000);
    }
    g.leave();
    return "fine " + std::to_string(lines);
}

BOOST_AUTO_TEST_CASE(two_thousand_silent_connections_do_not_keep_a_member_out) {
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    const rlim_t hard = most.rlim_max;
    most.rlim_cur = std::min<rlim_t>(hard, 4096);
    ::setrlimit(RLIMIT_NOFILE, &most);
    const auto at = own_addresses(2);
    processes p;
    p.start([&] {
        const rlimit few{128, 128};
        ::setrlimit(RLIMIT_NOFILE, &few);
        return member(cluster::of(at, 0, quick(5)), 10);
    });
    std::vector<io::descriptor> silent;
    silent.push_back(connected(at[0]));
    const rlim_t wanted = std::min<rlim_t>(2000, most.rlim_cur - 100);
    while (silent.size() < wanted / 2) silent.push_back(connected(at[0]));
    p.start([&] { silent.clear(); return member(cluster::of(at, 1, quick(5)), 10); });
    while (silent.size() < wanted) silent.push_back(connected(at[0]));   // some of them while the job runs
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(p.result(r), "fine"), p.result(r));
    BOOST_TEST_MESSAGE(silent.size() << " silent connections");
}

BOOST_AUTO_TEST_CASE(a_member_without_descriptors_goes_on_when_it_has_some) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] {   // so few that accept() fails while strangers hold theirs
        const rlimit few{14, 14};
        ::setrlimit(RLIMIT_NOFILE, &few);
        return member(cluster::of(at, 0, quick(5)), 3, 0.3);
    });
    std::vector<io::descriptor> silent;
    for (int i = 0; i < 20; ++i) silent.push_back(connected(at[0]));
    p.start([&] { silent.clear(); return member(cluster::of(at, 1, quick(5)), 3); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(p.result(r), "fine"), p.result(r));
}

BOOST_AUTO_TEST_CASE(who_says_nothing_or_too_slowly_is_closed) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return member(cluster::of(at, 0, quick(5)), 20, 0.6); });
    const io::descriptor silent = connected(at[0]), slow = connected(at[0]);
    std::atomic<bool> end{false};
    std::thread dripping([&] {   // a byte now and then, each of them right
        const std::string greeting = "SNRH\1";
        for (std::size_t i = 0; !end; ++i) {
            (void)!::send(slow.get(), &greeting[i % 5], 1, MSG_NOSIGNAL);
            ::usleep(100000);
        }
    });
    BOOST_TEST(is_closed(silent.get(), 3));
    BOOST_TEST(is_closed(slow.get(), 3));
    end = true;
    dripping.join();
    p.start([&] { return member(cluster::of(at, 1, quick(5)), 20); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(p.result(r), "fine"), p.result(r));
}

BOOST_AUTO_TEST_CASE(a_wrong_key_is_refused_and_told_once_a_second) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return member(cluster::of(at, 0, quick(5)), 12); });
    cluster_options wrong = quick(5);
    wrong.key = "another";
    const int refused = p.start([&] { return member(cluster::of({at[0], own_addresses(9)[8]}, 1, wrong), 1); });
    BOOST_TEST(holds(p.result(refused), "does not know the job's key"), p.result(refused));
    BOOST_TEST(holds(p.result(refused), "rank 0, worker/0 at " + at[0]), p.result(refused));
    p.start([&] { return member(cluster::of(at, 1, quick(5)), 12); });
    const double begin = base::monotonic_seconds();
    int attempts = 0;
    wire::greeting own;   // a stranger that knows all but the key, and comes again and again
    own.role = 1;
    own.index = own.rank = 1;
    own.size = 2;
    own.job = "test";
    for (; base::monotonic_seconds() - begin < 1; ++attempts) {
        wire::handshake h(true, own, "guess " + std::to_string(attempts));
        const io::descriptor s = connected(at[0]);
        const auto text = [](span<const std::byte> b) {
            return std::string(reinterpret_cast<const char*>(b.data()), b.size());
        };
        const std::string answer = said(s, text(h.to_say()), wire::greeting_bytes);
        BOOST_REQUIRE(answer.size() == wire::greeting_bytes);
        h.said();
        h.hear(as_bytes(answer));
        said(s, text(h.to_say()), 1000);
    }
    const std::string zero = p.result(0);
    BOOST_TEST(holds(zero, "fine"), zero);
    BOOST_TEST(attempts > 20);
    BOOST_TEST(std::stoi(zero.substr(5)) <= 4, zero << " lines for " << attempts << " attempts");
    BOOST_TEST(holds(p.result(2), "fine"), p.result(2));
}

BOOST_AUTO_TEST_CASE(a_recorded_connection_is_refused_when_it_comes_again) {
    const auto at = own_addresses(3);   // the last is the proxy, which records
    std::string wire;
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
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
        p.start([&, r] { return member(cluster::of({r == 0 ? at[0] : at[2], at[1]}, r, quick(5)), 20); });
    char buffer[4096];
    const auto n = ::read(ends[0], buffer, sizeof buffer);
    BOOST_REQUIRE(n > 1000);
    wire.assign(buffer, static_cast<std::size_t>(n));
    for (int i = 0; i < 3; ++i) {
        const io::descriptor s = connected(at[0]);
        const std::string answer = said(s, wire, 5000);   // until it is closed
        BOOST_TEST(answer.size() <= wire::greeting_bytes + 384);
        BOOST_TEST(is_closed(s.get(), 1));
    }
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(p.result(1 + r), "fine"), p.result(1 + r));
    p.signal(proxy, SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(a_stranger_who_claims_to_be_a_member_takes_nobodys_place) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return member(cluster::of(at, 0, quick(5)), 3); });
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
    p.start([&] { return member(cluster::of(at, 1, quick(5)), 3); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(p.result(r), "fine"), p.result(r));
}

BOOST_AUTO_TEST_CASE(peers_that_die_in_the_middle_of_a_handshake_are_waited_for) {
    const auto at = own_addresses(2);
    processes p;
    p.start([&] { return member(cluster::of(at, 0, quick(5)), 3); });
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
    p.start([&] { return member(cluster::of(at, 1, quick(5)), 3); });
    for (int r = 0; r < 2; ++r) BOOST_TEST(holds(p.result(r), "fine"), p.result(r));
}
