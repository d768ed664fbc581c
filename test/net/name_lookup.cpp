// SPDX-License-Identifier: BSL-1.0
// shows joining: a slow name server delays neither heartbeats nor `join_within`
// needs: distributed
// waits: for names that are found late
// A name server that takes its time: whoever dials says meanwhile that it lives, and is connected in the end.
#include <boost/test/unit_test.hpp>
#include <atomic>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <net/processes.hpp>
#include <pthread.h>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/process_group.hpp>
#include <sinter/net/service_client.hpp>

using namespace sinter;

namespace {
std::atomic<int> meanwhile{0}, looked_up{0};
std::atomic<bool> in_time{true}, answers{true}, asked{false}, takes_signals{false}, late_over{false};
std::atomic<double> takes{0};
/// Where the names lead to: at 127.0.0.1 another program may listen, such as this test of another build.
const std::string own_host = wire::parse_address(own_addresses(1)[0], "test").host;

/// Worker 0 or server 0 of a job whose server's host has this name.
cluster job_at(const std::string& host, std::uint16_t port, cluster_role role = cluster_role::worker) {
    return cluster({{cluster_role::worker, 0, "127.0.0.1", 1}, {cluster_role::ps, 0, host, port}}, role, 0, quick());
}
std::uint16_t own_port() { return wire::parse_address(own_addresses(1)[0], "test").port; }
} // namespace

/// The system's, but for two hosts. The address of one comes once somebody has said several times that it lives; the
/// other has none when it is first asked for, and then one that takes long.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints, addrinfo** list) {
    using function = int(const char*, const char*, const addrinfo*, addrinfo**);
    static auto* const of_the_system = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (host && std::strcmp(host, "slow.test") == 0 && (hints->ai_flags & AI_NUMERICHOST) == 0) {
        sigset_t blocked;
        if (::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || !::sigismember(&blocked, SIGTERM))
            takes_signals = true;
        asked = true;
        for (const double until = base::monotonic_seconds() + takes; base::monotonic_seconds() < until;) ::usleep(1000);
        for (int i = 0; i < 20000 && !(meanwhile >= 5 && answers); ++i) ::usleep(1000);
        if (meanwhile < 5) in_time = false;
        ++looked_up;
        host = own_host.c_str();
    }
    if (host && std::strcmp(host, "late.test") == 0 && (hints->ai_flags & AI_NUMERICHOST) == 0) {
        if (++looked_up == 1) return EAI_NONAME;
        for (int i = 0; i < 20000 && !answers; ++i) ::usleep(1000);
        late_over = true;
        host = own_host.c_str();
    }
    return of_the_system(host, port, hints, list);
}

BOOST_AUTO_TEST_CASE(a_name_that_takes_long_stops_no_heartbeats) {
    wire::service_client dialler(job_at("slow.test", own_port()), {1, 2, 3}, [] { ++meanwhile; });
    BOOST_TEST(!dialler.dial(0, 30).has_value());
    BOOST_TEST(in_time);
    BOOST_TEST(looked_up == 1);
    BOOST_TEST(!takes_signals);           // they are for the program's own threads
    BOOST_TEST(dialler.nobody_there());   // the address was dialled
    // Whoever does not wait for it takes the answer the next time.
    answers = false;
    BOOST_TEST(!dialler.dial(0, 0).has_value());
    BOOST_TEST(holds(dialler.trouble().text(), "still being looked up"), dialler.trouble().text());
    BOOST_TEST(!dialler.nobody_there());
    answers = true;
    BOOST_TEST(!dialler.dial(0, 30).has_value());
    BOOST_TEST(dialler.nobody_there());
    BOOST_TEST(looked_up == 2);
}

BOOST_AUTO_TEST_CASE(a_name_server_that_always_takes_as_long_as_is_waited_leaves_time_to_connect) {
    const std::uint16_t port = own_port();
    const wire::identity same{1, 2, 3};
    const cluster served = job_at(own_host, port, cluster_role::ps);
    const wire::service server(served, wire::service_greeting(served, same),
                               {[](const wire::greeting&) { return std::string(); },
                                [](const wire::greeting&, wire::data_link) {},
                                [](const std::string&) {}});
    wire::service_client dialler(job_at("slow.test", port), same, [] { ++meanwhile; });
    const double within = 0.625;   // amid two calls of meanwhile(), one each 0.05 s
    takes = within;
    std::optional<wire::data_link> link;
    for (int i = 0; i < 10 && !link; ++i) link = dialler.dial(0, within);
    takes = 0;
    BOOST_TEST(link.has_value(), dialler.trouble().text());
}

BOOST_AUTO_TEST_CASE(without_a_thread_for_it_the_caller_asks) {
#if defined(__GLIBC__)
    wire::service_client dialler(job_at("slow.test", own_port()), {1, 2, 3}, [] { ++meanwhile; });
    pthread_attr_t usual, huge;
    BOOST_REQUIRE(::pthread_getattr_default_np(&usual) == 0);
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 60);   // more than there are addresses
    BOOST_REQUIRE(::pthread_setattr_default_np(&huge) == 0);
    meanwhile = 5;
    BOOST_CHECK_NO_THROW(dialler.dial(0, 30));
    ::pthread_setattr_default_np(&usual);
    BOOST_TEST(dialler.nobody_there());   // the address was dialled
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    BOOST_TEST(!::sigismember(&blocked, SIGTERM));   // the caller's signals are as they were
    ::pthread_attr_destroy(&usual);
    ::pthread_attr_destroy(&huge);
#endif
}

// Under Kubernetes names are asked for again while members join. The thread that says to those who are here already
// that this one lives does not wait for that, nor does the end of the time for joining.
BOOST_AUTO_TEST_CASE(who_joins_does_not_wait_for_a_name) {
    answers = false;
    looked_up = 0;
    ::setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    cluster_options o = quick();
    o.join_within = 1;
    const cluster who = cluster::of({"late.test:" + std::to_string(own_port()), own_addresses(1)[0]}, 1, o);
    BOOST_CHECK_EXCEPTION(wire::process_group(who, {}), cluster_error, [](const cluster_error& e) {
        return holds(e.what(), "the name of its host is still being looked up");
    });
    BOOST_TEST(looked_up == 2);
    BOOST_TEST(!late_over);
    ::unsetenv("KUBERNETES_SERVICE_HOST");
    answers = true;
}

#if !defined(__SANITIZE_THREAD__)   // which takes no threads in a child of a process that has some
BOOST_AUTO_TEST_CASE(a_forked_child_asks_anew) {   // the thread that asks did not come along
    wire::service_client dialler(job_at("slow.test", own_port()), {1, 2, 3}, [] { ++meanwhile; });
    // A thread that begins or ends meanwhile may hold locks of a sanitizer, for which the child would wait for ever.
    const std::filesystem::directory_iterator none;
    while (std::distance(std::filesystem::directory_iterator("/proc/self/task"), none) > 1) ::usleep(1000);
    answers = asked = false;
    BOOST_TEST(!dialler.dial(0, 0).has_value());
    while (!asked) ::usleep(1000);
    processes all;
    all.start([&] {
        answers = true;
        const bool linked = dialler.dial(0, 20).has_value();
        return std::string(linked ? "linked" : dialler.nobody_there() ? "dialled" : dialler.trouble().text());
    });
    BOOST_TEST(all.result(0) == "dialled");
    answers = true;
    BOOST_TEST(!dialler.dial(0, 30).has_value());
    BOOST_TEST(dialler.nobody_there());
}
#endif
