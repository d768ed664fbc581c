// SPDX-License-Identifier: BSL-1.0
// alone: its operator new
#define BOOST_TEST_MODULE device_threads
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sinter/device/cpu/threads.hpp>

namespace {
std::atomic<long> allocations{0};
}
void* operator new(std::size_t n) {
    ++allocations;
    if (void* p = std::malloc(n)) return p;
    throw std::bad_alloc();
}
// Out of line: g++ 12 would see free() where it sees no malloc(), and warn.
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, std::size_t) noexcept { std::free(p); }

using sinter::runtime::team;

BOOST_AUTO_TEST_CASE(every_thread_runs_once) {
    for (int n : {1, 2, 3, 5}) {
        team t(n);
        BOOST_TEST(t.size() == n);
        std::vector<int> ran(static_cast<std::size_t>(n));
        for (int i = 0; i < 200; ++i) t.run([&](int thread) { ++ran[static_cast<std::size_t>(thread)]; });
        for (int r : ran) BOOST_TEST(r == 200);
    }
    BOOST_TEST(team().size() == sinter::base::usable_cores());
}

BOOST_AUTO_TEST_CASE(a_barrier_orders_what_lies_on_both_sides) {
    for (int n : {1, 2, 3, 4}) {
        team t(n);
        std::vector<int> mine(static_cast<std::size_t>(n)), sums(static_cast<std::size_t>(n));
        int wrong = 0;
        for (int i = 0; i < 20; ++i)
            t.run([&](int thread) {
                const auto me = static_cast<std::size_t>(thread);
                for (int step = 1; step <= 50; ++step) {
                    mine[me] = step * (thread + 1);
                    t.barrier(thread);
                    sums[me] = std::accumulate(mine.begin(), mine.end(), 0);
                    t.barrier(thread);
                    if (thread == 0)
                        for (int s : sums) wrong += s != step * n * (n + 1) / 2;
                }
            });
        BOOST_TEST(wrong == 0);
    }
}

BOOST_AUTO_TEST_CASE(threads_sleep_between_runs_and_wake) {
    team t(2);
    int ran = 0;
    for (int i = 0; i < 5; ++i) {
        t.run([&](int thread) { if (thread == 1) ++ran; });
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    BOOST_TEST(ran == 5);
}

BOOST_AUTO_TEST_CASE(an_exception_comes_out_and_releases_the_barriers) {
    team t(3);
    for (int thrower = 0; thrower < 3; ++thrower)
        for (int i = 0; i < 50; ++i) {
            int after = 0;
            BOOST_CHECK_THROW(t.run([&](int thread) {
                t.barrier(thread);
                if (thread == thrower) throw std::runtime_error("fault");
                t.barrier(thread);
                ++after;
            }), std::runtime_error);
            BOOST_TEST(after == 0);
        }
    BOOST_CHECK_THROW(t.run([](int) { throw std::logic_error("all"); }), std::logic_error);
    std::atomic<int> ran{0};
    t.run([&](int thread) {
        t.barrier(thread);
        ++ran;
    });
    BOOST_TEST(ran == 3);
}

BOOST_AUTO_TEST_CASE(denormals_are_flushed_inside_only) {
#if defined(__SSE2__)
    const auto half_of_least = [] {
        volatile float least = std::numeric_limits<float>::min();
        return least * 0.5f;
    };
    BOOST_TEST(half_of_least() != 0.f);
    team t(2);
    float inside[2] = {1, 1};
    t.run([&](int thread) { inside[thread] = half_of_least(); });
    BOOST_TEST(inside[0] == 0.f);
    BOOST_TEST(inside[1] == 0.f);
    BOOST_TEST(half_of_least() != 0.f);
    BOOST_CHECK_THROW(t.run([](int) { throw std::runtime_error("fault"); }), std::runtime_error);
    BOOST_TEST(half_of_least() != 0.f);
#endif
}

BOOST_AUTO_TEST_CASE(a_run_allocates_nothing) {
    team t(2);
    long calls = 0;
    const auto job = [&](int thread) {
        t.barrier(thread);
        if (thread == 0) ++calls;
    };
    t.run(job);
    const long before = allocations;
    for (int i = 0; i < 100; ++i) t.run(job);
    BOOST_TEST(allocations - before == 0);
    BOOST_TEST(calls == 101);
}

BOOST_AUTO_TEST_CASE(impossible_numbers_are_refused) {
    BOOST_CHECK_THROW(team(-1), sinter::option_error);
    BOOST_CHECK_THROW(team(1 << 20), sinter::option_error);
}

BOOST_AUTO_TEST_CASE(a_spin_in_vain_is_not_repeated_at_once) {
    std::atomic<unsigned> value{0};
    sinter::base::patience own;
    const auto wait = [&](unsigned old) {
        std::thread later([&, old] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            value = old + 1;
            value.notify_all();
        });
        sinter::base::await_change(value, old, true, &own);
        BOOST_TEST(value == old + 1);
        later.join();
    };
    wait(0);
    for (unsigned old = 1; own.without_spin == 0 && old < 100; ++old) wait(old);   // a busy machine: it came too soon
    BOOST_TEST(own.without_spin == sinter::base::patience::next_waits);
    sinter::base::await_change(value, value - 1, true, &own);   // no wait: it is there
    BOOST_TEST(own.without_spin == sinter::base::patience::next_waits);
    for (unsigned old = value; own.without_spin == sinter::base::patience::next_waits && old < 200; ++old) wait(old);
    BOOST_TEST(own.without_spin == sinter::base::patience::next_waits - 1);
}
