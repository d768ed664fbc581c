// SPDX-License-Identifier: BSL-1.0
// alone: its operator new
#define BOOST_TEST_MODULE prefetch
#include <boost/test/unit_test.hpp>
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/transform/map.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/transform/shuffle.hpp>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <set>
#include <thread>

using namespace sinter;
using data::batch_view;

static std::atomic<long> allocations{0};
[[gnu::noinline]] void* operator new(std::size_t n) {
    ++allocations;
    if (void* p = std::malloc(n ? n : 1)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
    ++allocations;
    const auto align = static_cast<std::size_t>(a);
    if (void* p = std::aligned_alloc(align, (n + align - 1) / align * align)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

static data::dataset numbered(int n) {
    std::vector<float> x;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(i));
    return data::dataset(extents(1), x);
}

BOOST_AUTO_TEST_CASE(a_thread_changes_nothing_but_the_time) {
    auto plain = numbered(997) | data::shuffle(100, 7) | data::batch(16);
    auto ahead = numbered(997) | data::shuffle(100, 7) | data::batch(16) | data::prefetch(3);
    auto twice = numbered(997) | data::shuffle(100, 7) | data::batch(16) | data::prefetch(1) | data::prefetch(1);
    for (int i = 0; i < 200; ++i) {
        const batch_view *a = plain.next(), *b = ahead.next(), *c = twice.next();
        BOOST_REQUIRE((a == nullptr) == (b == nullptr));
        BOOST_REQUIRE((a == nullptr) == (c == nullptr));
        BOOST_REQUIRE((plain.position() == ahead.position()));
        if (!a) continue;
        BOOST_REQUIRE(a->size == b->size);
        BOOST_REQUIRE(std::vector<float>(a->x, a->x + a->size) == std::vector<float>(b->x, b->x + b->size));
        BOOST_REQUIRE(std::vector<float>(a->x, a->x + a->size) == std::vector<float>(c->x, c->x + c->size));
    }
}

BOOST_AUTO_TEST_CASE(after_warm_up_nothing_is_allocated) {
    auto p = numbered(1000) | data::map([](data::example& e) { e.x[0] += 1; }) | data::shuffle(64, 7)
             | data::batch(16) | data::prefetch(2);
    for ([[maybe_unused]] const batch_view& b : p) {}   // every buffer has been in use
    std::set<const float*> addresses;
    std::int64_t examples = 0;
    const long before = allocations;   // and no check until the end: Boost.Test itself allocates
    for (int epoch = 0; epoch < 3; ++epoch)
        for (const batch_view& b : p) examples += b.size;
    const long after = allocations;
    BOOST_TEST(after == before, after - before << " allocations in three passes");
    BOOST_TEST(examples == 3000);
    for (const batch_view& b : p) addresses.insert(b.x);
    BOOST_TEST(addresses.size() <= 3u);   // two ahead and the caller's
}

BOOST_AUTO_TEST_CASE(what_is_thrown_on_the_thread_comes_out_in_its_turn) {
    std::atomic<bool> broken{true};
    auto p = numbered(20) | data::map([&](data::example& e) {
        if (broken && e.x[0] == 11) throw data_error("cannot decode", "example 11");
    }) | data::batch(4) | data::prefetch(2);
    BOOST_TEST(p.next()->x[0] == 0.0f);
    BOOST_TEST(p.next()->x[0] == 4.0f);
    BOOST_CHECK_THROW(p.next(), data_error);
    BOOST_TEST((p.position() == data::position{0, 8}));
    BOOST_CHECK_THROW(p.next(), data_error);   // still there
    broken = false;
    const batch_view* b = p.next();            // tried again, nothing is lost
    BOOST_TEST(b->x[0] == 8.0f);
    BOOST_TEST(b->x[3] == 11.0f);
}

BOOST_AUTO_TEST_CASE(it_can_be_dropped_moved_and_sought_at_any_time) {
    for (int pulls = 0; pulls < 6; ++pulls) {
        auto p = numbered(100) | data::batch(4) | data::prefetch(4);
        for (int i = 0; i < pulls; ++i) p.next();
        data::pipeline moved = std::move(p);
        if (pulls % 2) moved.seek({3, 40});
        const batch_view* b = moved.next();
        BOOST_TEST(b->x[0] == (pulls % 2 ? 40.0f : static_cast<float>(4 * pulls)));
    }
}

BOOST_AUTO_TEST_CASE(as_many_batches_are_ahead_as_asked_for) {
    const auto check_pulled_after_one = [](data::prefetch_step step, int expected) {
        std::atomic<int> pulled{0};
        std::atomic<bool> open{false};   // the worker waits for the take: behind a full ring it would sleep longer
        auto p = numbered(1000) | data::map([&](data::example& e) {
            if (e.x[0] == 4) open.wait(false);
            ++pulled;
        }) | data::batch(4) | step;
        const bool first = p.next() != nullptr;
        open = true;
        open.notify_one();
        BOOST_REQUIRE(first);
        while (pulled < 4 * expected) std::this_thread::yield();   // however long a busy machine takes
        std::this_thread::sleep_for(std::chrono::milliseconds(50));   // and no further
        BOOST_TEST(pulled == 4 * expected);
    };
    check_pulled_after_one(data::prefetch(1), 2);
    check_pulled_after_one(data::prefetch(5), 6);
    check_pulled_after_one(data::prefetch(), 17);   // small batches
}

BOOST_AUTO_TEST_CASE(the_ring_is_filled_again_and_no_further) {
    std::atomic<int> pulled{0};
    auto p = numbered(4000) | data::map([&](data::example&) { ++pulled; }) | data::batch(4) | data::prefetch(5);
    for (int taken = 1; taken < 500; ++taken) {
        BOOST_REQUIRE(p.next());
        if (taken % 7 == 0)   // the worker was woken before half of its batches were left
            while (pulled / 4 - taken <= 5 / 2) std::this_thread::yield();
        BOOST_REQUIRE(pulled / 4 - taken <= 5);
    }
}

BOOST_AUTO_TEST_CASE(a_caller_that_is_slow_or_fast_gets_every_batch) {
    for (int depth : {1, 2, 7}) {   // both sides sleep at times
        auto p = numbered(400) | data::map([](data::example& e) {
            if (static_cast<int>(e.x[0]) % 97 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }) | data::batch(4) | data::prefetch(depth);
        float next = 0;
        for (const batch_view& b : p) {
            for (int i = 0; i < b.size; ++i) BOOST_REQUIRE(b.x[i] == next++);
            if (static_cast<int>(next) % 60 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        BOOST_TEST(next == 400);
    }
}
