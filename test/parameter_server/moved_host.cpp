// SPDX-License-Identifier: BSL-1.0
// shows servers: a name that leads to another machine when a worker dials again is an error
// needs: distributed
// The server of a job without a key is dialled again, and its host's name leads to another machine by now: that is an
// error of the worker's next call, though a thread that nobody waits for has met it.
#include "job_of_threads.hpp"
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <dlfcn.h>

using namespace sinter;
using namespace sinter::ps_test;

namespace {
std::string host;
std::atomic<bool> moved{false};
std::atomic<int> asked{0};
} // namespace

/// The system's, but for one host.
extern "C" int getaddrinfo(const char* name, const char* port, const addrinfo* hints, addrinfo** list) {
    using function = int(const char*, const char*, const addrinfo*, addrinfo**);
    static auto* const of_the_system = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (name && std::strcmp(name, "moves.test") == 0 && (hints->ai_flags & AI_NUMERICHOST) == 0) {
        if (moved) ++asked;
        name = moved ? "10.0.0.1" : host.c_str();
    }
    return of_the_system(name, port, hints, list);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_elsewhere_is_refused_in_words) {
    cluster_options o = quick(1);
    o.key = "";
    job j(1, 1, dense_layout(1000), o);
    for (cluster_member& m : j.members)
        if (m.role == cluster_role::ps) host = std::exchange(m.host, "moves.test");
    processes servers;
    servers.start([&] {
        j.server(0, {})->run();
        return std::string("over");
    });
    auto c = j.client(0, {});
    c->open(0);
    const std::vector<float> g(1000);
    const auto push = [&] {
        c->begin_push();
        c->push(0, 0, g);
        c->wait(c->commit({}));
    };
    push();
    moved = true;
    servers.signal(0, SIGKILL);
    for (int i = 0; i < 20000 && asked == 0; ++i) ::usleep(1000);   // the worker computes
    BOOST_REQUIRE(asked != 0);
    BOOST_CHECK_EXCEPTION(push(), cluster_error, [](const cluster_error& e) {
        return e.role() == "ps/0" && holds(e.cause(), "cluster_options::key");
    });
}
