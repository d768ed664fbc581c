// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// A name server that takes its time: whoever dials says meanwhile that it lives.
#include <boost/test/unit_test.hpp>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <net/processes.hpp>
#include <sinter/net/service_client.hpp>

using namespace sinter;

namespace {
std::atomic<int> meanwhile{0}, looked_up{0};
std::atomic<bool> in_time{true}, answers{true};
} // namespace

/// The system's, but for one host: its address comes once somebody has said several times that it lives.
extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints, addrinfo** list) {
    using function = int(const char*, const char*, const addrinfo*, addrinfo**);
    static auto* const of_the_system = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (host && std::strcmp(host, "slow.test") == 0 && (hints->ai_flags & AI_NUMERICHOST) == 0) {
        for (int i = 0; i < 20000 && !(meanwhile >= 5 && answers); ++i) ::usleep(1000);
        if (meanwhile < 5) in_time = false;
        ++looked_up;
        host = "127.0.0.1";
    }
    return of_the_system(host, port, hints, list);
}

BOOST_AUTO_TEST_CASE(a_name_that_takes_long_stops_no_heartbeats) {
    const std::uint16_t port = wire::parse_address(own_addresses(1)[0], "test").port;
    const cluster who({{cluster_role::worker, 0, "127.0.0.1", 1}, {cluster_role::ps, 0, "slow.test", port}},
                      cluster_role::worker, 0, quick());
    wire::service_client dialler(who, {1, 2, 3}, [] { ++meanwhile; });
    BOOST_TEST(!dialler.dial(0, 30).has_value());
    BOOST_TEST(in_time);
    BOOST_TEST(looked_up == 1);
    BOOST_TEST(dialler.nobody_there());   // the address was dialled
    // Whoever does not wait for it takes the answer the next time.
    answers = false;
    BOOST_TEST(!dialler.dial(0, 0).has_value());
    BOOST_TEST(holds(dialler.trouble().words(), "still being looked up"), dialler.trouble().words());
    BOOST_TEST(!dialler.nobody_there());
    answers = true;
    BOOST_TEST(!dialler.dial(0, 30).has_value());
    BOOST_TEST(dialler.nobody_there());
    BOOST_TEST(looked_up == 2);
}
