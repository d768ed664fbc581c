// SPDX-License-Identifier: BSL-1.0
// alone: its operator new
#define BOOST_TEST_MODULE row_team_memory
#include <boost/test/unit_test.hpp>
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/source.hpp>
#include <atomic>
#include <cstdlib>
#include <new>
#include <set>

using namespace sinter;

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

static constexpr port_info input[] = {{.s = {.rank = 1, .d = {5}}}};
static constexpr data::model_ports ports{{input, 1}, {}};

BOOST_AUTO_TEST_CASE(after_a_pass_nothing_is_allocated) {
    using row = std::array<float, 5>;
    const auto stages = data::from(1000, [](std::int64_t i) { return row{static_cast<float>(i)}; })
        | data::map([](const row& r, random_stream& random) { return row{r[0], random.uniform()}; })
        | data::filter([](const row& r) { return r[1] < 0.8f; })
        | data::map([](const row& r) { return row{r[0], r[1], 1}; });
    for (const int threads : {0, 1, 4}) {
        auto b = stages | data::batch(16) | data::prefetch(3);
        if (threads) b = std::move(b) | data::parallel(threads);
        else b = stages | data::batch(16);
        data::pipeline& p = data::pipeline_for<ports>(b);
        for ([[maybe_unused]] const data::batch_view& v : p) {}
        std::set<const float*> addresses;
        std::int64_t examples = 0;
        const long before = allocations;   // and no check until the end: Boost.Test itself allocates
        for (int pass = 0; pass < 3; ++pass)
            for (const data::batch_view& v : p) examples += v.size;
        const long after = allocations;
        BOOST_TEST(after == before, after - before << " allocations in three passes, " << threads << " threads");
        BOOST_TEST(examples > 2000);
        for (const data::batch_view& v : p) addresses.insert(v.x);
        BOOST_TEST(addresses.size() <= (threads ? 4u : 1u));   // those ahead and the caller's
    }
}
