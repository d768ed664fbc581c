// SPDX-License-Identifier: BSL-1.0
// shows joining: members that are missing, doubled, in any order or different; busy ports, impossible addresses:
//     named at once
// needs: distributed
// waits: for members that are late or never come
#define BOOST_TEST_MODULE rendezvous
#include <boost/test/unit_test.hpp>
#include <sinter/net/process_group.hpp>
#include "processes.hpp"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

// Processes that meet: in any order of their start, with everybody there or not, and with something that does not fit.
using namespace sinter;
using namespace sinter::base;
using wire::process_group;

/// Everyone's rank, and a number that went around by the data connections.
static std::string meet(const cluster& c, const wire::identity& same = {}) {
    process_group g(c, same);
    std::string text;
    for (const std::string& s : g.exchange("ranks", std::to_string(g.rank()))) text += s;
    const int next = (g.rank() + 1) % g.size(), last = (g.rank() + g.size() - 1) % g.size();
    int sent = g.rank() * 11, got = -1;
    const wire::frame_tag tag{.operation = 1, .elements = 1};
    g.link(next).send(tag, {reinterpret_cast<const std::byte*>(&sent), sizeof sent});
    g.link(last).receive(tag, {reinterpret_cast<std::byte*>(&got), sizeof got});
    for (bool done = false; !done;) {
        done = g.link(next).flush();
        done = g.link(last).fill() && done;
        g.check();
    }
    g.leave();
    return text + " " + std::to_string(got);
}

BOOST_AUTO_TEST_CASE(a_cluster_of_one_needs_nobody) {
    process_group g(cluster(), {});
    BOOST_TEST(g.size() == 1);
    BOOST_TEST(g.exchange("x", "y").at(0) == "y");
    g.check();
    g.ask_all_to_stop("enough");
    BOOST_TEST(g.asked());
    g.leave();
}

// A process may still answer for the group that it was in before: who is of the next one tries again. In a job whose
// groups do not follow each other that is an error.
BOOST_AUTO_TEST_CASE(who_answers_for_another_group_is_dialled_again) {
    for (const bool regroups : {true, false}) {
        const auto at = own_addresses(2);
        const auto of = [=](int r, const char* job, double within) {
            cluster_options o = quick(10);
            o.job = job;
            o.join_within = within;
            o.regroups = regroups;
            return cluster::of(at, r, o);
        };
        processes p;
        p.start([&] {
            try {
                process_group g(of(0, "before", regroups ? 0.5 : 50), {});   // until the other one has met it
            } catch (const cluster_error&) {   // nobody has come
            }
            return meet(of(0, "now", 10));
        });
        p.start([&] { return meet(of(1, "now", 10)); });
        if (regroups) BOOST_TEST((p.result(0) == "01 11" && p.result(1) == "01 0"), p.result(0) + ", " + p.result(1));
        else BOOST_TEST(holds(p.result(1), "the job's name differs"), p.result(1));
    }
}

BOOST_AUTO_TEST_CASE(any_order_of_starts_gives_the_same) {
    for (const int n : {2, 3}) {
        std::vector<int> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        do {
            const auto at = own_addresses(n);
            processes p;
            for (int r = 0; r < n; ++r)
                p.start([&] { return meet(cluster::of(at, r, quick(10))); }, 0.1 * order[static_cast<std::size_t>(r)]);
            for (int r = 0; r < n; ++r)
                BOOST_TEST(p.result(r) == std::string("012").substr(0, static_cast<std::size_t>(n)) + " " +
                                              std::to_string((r + n - 1) % n * 11));
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

BOOST_AUTO_TEST_CASE(eight_connect_also_without_a_key) {
    for (const char* key : {"", "secret"}) {
        const auto at = own_addresses(8);
        processes p;
        cluster_options o = quick(10);
        o.key = key;
        for (int r = 0; r < 8; ++r) p.start([&] { return meet(cluster::of(at, r, o)); });
        for (int r = 0; r < 8; ++r) BOOST_TEST(p.result(r) == "01234567 " + std::to_string((r + 7) % 8 * 11));
    }
}

BOOST_AUTO_TEST_CASE(the_masters_address_is_enough) {
    const host_port master = wire::parse_address(own_addresses(1)[0], "test");
    processes p;
    for (const int r : {3, 0, 2, 1})
        p.start([&] {
            std::string text = meet(cluster::with_master(r, 4, master, quick(10)));
            process_group g(cluster::with_master(r, 4, host_port{master.host, 7999}, quick(10)), {});
            for (int i = 0; i < 4; ++i)
                if (!g.roster().member(i).address().known()) text += " unknown";
            g.leave();
            return text;
        });
    int i = 0;
    for (const int r : {3, 0, 2, 1}) BOOST_TEST(p.result(i++) == "0123 " + std::to_string((r + 3) % 4 * 11));
}

BOOST_AUTO_TEST_CASE(who_is_missing_is_named) {
    const auto at = own_addresses(3);
    processes p;
    cluster_options o = quick(10);
    o.join_within = 3;
    for (int r = 0; r < 2; ++r) p.start([&] { return meet(cluster::of(at, r, o)); });
    for (int r = 0; r < 2; ++r) {
        const std::string text = p.result(r);
        BOOST_TEST(holds(text, "missing after 3.0 s: worker/2 at " + at[2]), text);
        BOOST_TEST(holds(text, "rank 2, worker/2 at " + at[2] + ", joining the job"), text);
    }
}

BOOST_AUTO_TEST_CASE(impossible_addresses_fail_at_once) {
    const auto at = own_addresses(2);
    const auto told = [&](std::vector<std::string> addresses, cluster_options o) {
        o.join_within = 200;   // which nobody waits for
        std::string text;
        try {
            process_group g(cluster::of(addresses, 0, o), {});
        } catch (const error& e) {
            text = e.what();
        }
        return text;
    };
    wire::event_loop loop;
    const wire::resolution here = wire::resolve(wire::parse_address(at[0], "test"));
    auto busy = std::make_unique<wire::listener>(loop, here.endpoints.at(0));
    BOOST_TEST(holds(told(at, quick(10)), "the port is in use"));
    busy.reset();
    BOOST_TEST(holds(told({"no-such-host.invalid:7000", at[1]}, quick(10)), "worker/0 at no-such-host.invalid:7000"));
    BOOST_TEST(holds(told({at[0], "no-such-host.invalid:7000"}, quick(10)), "the name of its host cannot be resolved"));
    BOOST_TEST(holds(told({at[0], "192.0.2.1:7000"}, quick(10)), "loopback device"));
    BOOST_TEST(holds(told({"192.0.2.1:7000", at[1]}, quick(10)), "192.0.2.1 is not an address of this machine"));
    cluster_options short_key = quick(10);
    short_key.key = "abc";
    BOOST_TEST(holds(told(at, short_key),
                     "cluster_options::key: a key that is short enough to be guessed; got 3 bytes"));
    cluster_options no_key = quick(10);
    no_key.key.clear();
    BOOST_TEST(holds(told({at[0], "192.0.2.1:7000"}, no_key), "without a key"));
    BOOST_TEST(holds(told({"192.0.2.1:7000", at[1]}, no_key), "insecure"));
    no_key.insecure = true;
    BOOST_TEST(holds(told({"192.0.2.1:7000", at[1]}, no_key), "not an address of this machine"));
}

BOOST_AUTO_TEST_CASE(it_listens_at_its_own_address_alone) {
    const auto at = own_addresses(2);
    processes p;
    const int member = p.start([&] { return meet(cluster::of(at, 0, quick(10))); });
    const host_port own = wire::parse_address(at[0], "test");
    // rows of /proc/net/tcp: local address, remote address, state 0A, ..., number of the socket
    std::string listening;
    for (int i = 0; i < 2000 && listening.empty(); ++i) {
        ::usleep(20000);
        std::string own_sockets;   // those of other processes are none of this test's
        std::error_code gone;      // a descriptor may be closed meanwhile
        for (const auto& d :
             std::filesystem::directory_iterator("/proc/" + std::to_string(p.pid(member)) + "/fd", gone))
            own_sockets += std::filesystem::read_symlink(d.path(), gone).string() + ' ';
        for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
            std::ifstream f(table);
            std::string n, local, remote, state, queues, timer, retransmits, user, timeout, socket, rest;
            std::getline(f, rest);
            while (f >> n >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> socket &&
                   std::getline(f, rest))
                if (state == "0A" && holds(own_sockets, "socket:[" + socket + "] ")) listening += local + " ";
        }
    }
    in_addr a;
    ::inet_pton(AF_INET, own.host.c_str(), &a);
    char expected[20];
    std::snprintf(expected, sizeof expected, "%08X:%04X ", a.s_addr, own.port);
    BOOST_TEST(listening == expected);
    p.signal(member, SIGKILL);
}

BOOST_AUTO_TEST_CASE(all_report_what_members_do_not_agree_on) {
    const auto differ = [](auto change_cluster, auto change_identity) {
        const auto at = own_addresses(3);
        processes p;
        for (int r = 0; r < 3; ++r)
            p.start([&] {
                cluster_options o = quick(10);
                wire::identity same{1, 2, 3};
                if (r == 1) change_cluster(o), change_identity(same);
                return meet(cluster::of(at, r, o), same);
            });
        std::vector<std::string> texts;
        for (int r = 0; r < 3; ++r) texts.push_back(p.result(r));
        return texts;
    };
    const auto as_it_is = [](auto&) {};
    const auto check = [](const std::vector<std::string>& texts, const char* part) {
        for (const std::string& t : texts) BOOST_TEST((holds(t, part) && holds(t, "error: ")), t);
    };
    check(differ(as_it_is, [](wire::identity& i) { i.model = 9; }), "the model (its hash) differs");
    check(differ(as_it_is, [](wire::identity& i) { i.layout = 9; }), "the layout of memory");
    check(differ(as_it_is, [](wire::identity& i) { i.policy = 9; }), "the strategy or its options");
    // Another job at the same address is refused on both sides; the first goes on waiting for its own member.
    const auto at = own_addresses(2);
    processes p;
    cluster_options other = quick(10);
    other.job = "another";
    p.start([&] { return meet(cluster::of(at, 0, quick(10))); });
    const int wrong = p.start([&] { return meet(cluster::of({at[0], own_addresses(5)[4]}, 1, other)); }, 0.1);
    const std::string text = p.result(wrong);
    BOOST_TEST(holds(text, "the job's name differs: 'test' there, 'another' here"), text);
    p.start([&] { return meet(cluster::of(at, 1, quick(10))); });
    BOOST_TEST(p.result(0) == "01 11");
    BOOST_TEST(p.result(2) == "01 0");
    // Another number of members, or another task for a rank.
    const auto three = own_addresses(3);
    p.start([&] { return meet(cluster::of({three[0], three[1]}, 0, quick(10))); });
    p.start([&] { return meet(cluster::of(three, 1, quick(10))); });
    for (const int i : {3, 4}) BOOST_TEST(holds(p.result(i), "the number of members differs"), p.result(i));
}

BOOST_AUTO_TEST_CASE(a_task_that_is_started_twice_is_refused) {
    const auto at = own_addresses(3);
    processes p;
    const shared_flag there[3], over;
    const auto member = [&](int r) {
        return [&, r] {
            process_group g(cluster::of(at, r, quick(10)), {});
            there[r].set();
            over.wait();
            g.leave();
            return std::string("fine");
        };
    };
    for (int r = 0; r < 3; ++r) p.start(member(r));
    for (const shared_flag& f : there)
        f.wait();
    const int same_host = p.start(member(1));
    const int elsewhere = p.start([&] {   // the same rank at another address
        return meet(cluster::of({at[0], own_addresses(9)[8], at[2]}, 1, quick(10)));
    });
    BOOST_TEST(holds(p.result(same_host), "the port is in use"), p.result(same_host));
    BOOST_TEST(holds(p.result(elsewhere), "the task was started twice"), p.result(elsewhere));
    over.set();
    for (int r = 0; r < 3; ++r) BOOST_TEST(p.result(r) == "fine");
}
