// SPDX-License-Identifier: BSL-1.0
// shows network: memory that a peer costs before it has the key
// needs: distributed
// alone: its operator new
#define BOOST_TEST_MODULE stranger_memory
#include <boost/test/unit_test.hpp>
#include <sinter/net/links.hpp>
#include "processes.hpp"
#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

// What a member allocates for a connection of which nobody knows yet whose it is.
using namespace sinter;

// All that is allocated in this program is counted.
static std::atomic<long> live{0}, peak{0};   // bytes
static std::atomic<bool> counting{false};
[[gnu::noinline]] void* operator new(std::size_t n) {
    void* const at = std::malloc(n);
    if (!at) throw std::bad_alloc();
    if (counting) {
        live += static_cast<long>(::malloc_usable_size(at));
        if (live > peak) peak.store(live);
    }
    return at;
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
    if (counting) live -= static_cast<long>(::malloc_usable_size(at));
    std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

BOOST_AUTO_TEST_CASE(unproved_peer_costs_at_most_four_kibibytes) {
    wire::event_loop loop;
    const auto at = own_addresses(2);
    const cluster c = cluster::of(at, 0, quick(5));
    auto listener = std::make_unique<wire::listener>(loop, wire::resolve(c.self().address()).endpoints.at(0));
    wire::greeting own;
    own.size = 2;
    own.job = "test";
    std::atomic<int> refusals{0};
    wire::links l(loop, c, own, std::vector<wire::resolution>(2), std::move(listener),
                 [&](const std::string&) { ++refusals; },
                 {.received = nullptr, .lost = nullptr, .joined = nullptr, .failed = nullptr,
                  .closed = [] { return std::string(); }});
    loop.start([](const char*) {});
    loop.post([&] { l.begin(); });
    const auto pending = [&] {   // strangers, once all that has come is dealt with
        std::atomic<int> n{-1};
        loop.post([&] { n = static_cast<int>(l.pending_connections()); });
        while (n < 0) ::usleep(1000);
        return n.load();
    };
    const wire::greeting_block block = wire::encode(own);
    for (int i = 0; i < 4; ++i) {   // the first ones meet what is allocated once; every other says all of its greeting
        counting = i >= 2;
        {
            const wire::endpoint e = wire::resolve(c.self().address()).endpoints.at(0);
            const io::descriptor s(::socket(e.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
            BOOST_REQUIRE(::connect(s.get(), e.address(), e.size) == 0);
            (void)!::write(s.get(), block.data(), block.size() - (i % 2 == 0 ? 1 : 0));
            for (int k = 0; k < 30000 && counting && peak <= 500; ++k) ::usleep(1000);   // until it is seen
            std::byte answer[wire::greeting_bytes];   // to who said all of it, and is refused: there is no key
            if (i % 2 != 0) BOOST_TEST(::recv(s.get(), answer, sizeof answer, MSG_WAITALL) == ssize_t(sizeof answer));
            ::usleep(100000);
            counting = false;
            while (pending() != (i + 1) % 2) ::usleep(1000);
        }
        while (pending() != 0) ::usleep(1000);
        live = 0;
    }
    BOOST_TEST(peak > 500);   // it is counted at all
    BOOST_TEST(peak <= 4096);
    BOOST_TEST_MESSAGE(peak << " bytes for a stranger");
    loop.stop();
}
