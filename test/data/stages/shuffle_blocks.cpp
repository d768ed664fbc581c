// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE data_stages_shuffle_blocks
#include <boost/test/unit_test.hpp>
#include "data/stages/restored.hpp"
#include "io/error_parts.hpp"
#include <sinter/data/stages/counter.hpp>
#include <sinter/data/stages/shuffle_blocks.hpp>
#include <sinter/data/stages/source.hpp>
#include <algorithm>
#include <map>
#include <set>

namespace shuffle_blocks_test {

using namespace sinter;
using reading::rest;
using i64 = std::int64_t;
using numbers = std::vector<i64>;

/// Blocks as they come are read off: each window has the elements of `window` blocks, each block in one window, and all
/// elements of a block.
void windows_are_of_blocks(const numbers& got, i64 n, i64 block, i64 window) {
    numbers sorted = got;
    std::sort(sorted.begin(), sorted.end());
    BOOST_REQUIRE(static_cast<i64>(sorted.size()) == n);
    for (i64 i = 0; i < n; ++i) BOOST_REQUIRE(sorted[static_cast<std::size_t>(i)] == i);
    std::size_t at = 0;
    std::set<i64> before;
    while (at < got.size()) {
        // A window is as long as its blocks' elements: with the short block it is shorter.
        std::map<i64, i64> blocks;
        i64 open = 0;   // elements of its blocks that have not come yet
        do {
            const i64 b = got[at] / block, size = std::min(block, n - b * block);
            if (blocks[b]++ == 0) open += size;
            --open;
            BOOST_REQUIRE(before.count(b) == 0u);
            ++at;
        } while (at < got.size() && (open > 0 || static_cast<i64>(blocks.size()) < window));
        BOOST_REQUIRE(open == 0);
        BOOST_REQUIRE((static_cast<i64>(blocks.size()) == window || at == got.size()));
        for (const auto& b : blocks) before.insert(b.first);
    }
}

BOOST_AUTO_TEST_CASE(windows_of_whole_blocks) {
    for (const i64 n : {0, 1, 2, 7, 12, 29, 60})
        for (const i64 block : {1, 2, 5, 12, 100})
            for (const i64 window : {1, 2, 3, 50}) {
                const auto s = data::range(n) | data::shuffle_blocks(block, window, {.seed = 4});
                BOOST_TEST(s.size() == n);
                for (i64 pass = 0; pass < 6; ++pass) windows_are_of_blocks(rest(s, pass), n, block, window);
                stage_test::goes_on_anywhere(s, 2);
            }
}

BOOST_AUTO_TEST_CASE(within_a_block_and_between_them) {
    // With window 1 a block's elements stay together, in another order; with block 1 it is one order of all.
    const auto blocks = rest(data::range(40) | data::shuffle_blocks(10, 1), 0);
    bool mixed = false;
    for (std::size_t i = 0; i + 1 < 40; ++i)
        if (i % 10 != 9) {
            BOOST_TEST(blocks[i] / 10 == blocks[i + 1] / 10);
            mixed = mixed || blocks[i + 1] != blocks[i] + 1;
        }
    BOOST_TEST(mixed);
    // Other seeds and passes have other orders; the same ones have the same.
    const auto order = [](std::uint64_t seed, i64 pass) {
        return rest(data::range(200) | data::shuffle_blocks(10, 4, {.seed = seed}), pass);
    };
    BOOST_TEST((order(1, 0) == order(1, 0)));
    BOOST_TEST((order(1, 0) != order(1, 1)));
    BOOST_TEST((order(1, 0) != order(2, 0)));
}

BOOST_AUTO_TEST_CASE(each_order_of_blocks_is_as_likely) {
    // 5 elements in blocks of 2, one after the other: 6 orders of blocks, 4 of the elements within.
    const auto s = data::range(5) | data::shuffle_blocks(2, 1, {.seed = 9});
    std::map<numbers, int> seen;
    typename decltype(s)::state st{};
    constexpr int passes = 24'000;
    for (i64 pass = 0; pass < passes; ++pass) {
        s.begin(st, pass);
        numbers all;
        for (i64 i = 0; i < 5; ++i) all.push_back(s.get(st, i));
        ++seen[all];
    }
    BOOST_TEST(seen.size() == 24u);
    double chi = 0;
    for (const auto& o : seen) chi += (o.second - passes / 24.) * (o.second - passes / 24.) / (passes / 24.);
    BOOST_TEST(chi < 49.7);   // 23 degrees of freedom: exceeded once in a thousand
    // Of one window all orders are possible.
    const auto window = data::range(4) | data::shuffle_blocks(2, 2, {.seed = 9});
    std::set<numbers> orders;
    for (i64 pass = 0; pass < 500; ++pass) orders.insert(rest(window, pass));
    BOOST_TEST(orders.size() == 24u);
}

BOOST_AUTO_TEST_CASE(large_passes_and_windows) {
    // Orders that are computed: of the blocks, and within windows.
    const i64 n = (i64{1} << 40) + 12'345;
    const auto s = data::range(n) | data::shuffle_blocks(1000, 1000, {.seed = 1});
    typename decltype(s)::state st{};
    s.begin(st, 3);
    std::set<i64> seen, blocks;
    for (i64 i = 0; i < 5000; ++i) {
        const i64 e = s.get(st, n - 5000 + i);
        BOOST_REQUIRE((e >= 0 && e < n));
        seen.insert(e);
        blocks.insert(e / 1000);
    }
    BOOST_TEST(seen.size() == 5000u);
    BOOST_TEST(blocks.size() <= 1000u);
    const auto whole = data::range(40'123) | data::shuffle_blocks(100, 300);
    windows_are_of_blocks(rest(whole, 1, {}, 50'000), 40'123, 100, 300);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
    check_error<option_error>([] { data::shuffle_blocks(0, 1); }, "impossible block", "shuffle_blocks", "0");
    check_error<option_error>([] { data::shuffle_blocks(1, 0); }, "impossible window", "shuffle_blocks", "0");
    BOOST_CHECK_THROW(data::shuffle_blocks(i64{1} << 32, i64{1} << 32), option_error);
    check_error<option_error>([] { data::shuffle_blocks(i64{1} << 32, (i64{1} << 29) + 1); }, "too large a window",
                              "shuffle_blocks");
    check_error<option_error>([] { static_cast<void>(data::counter() | data::shuffle_blocks(2, 2)); },
                              "all elements of a pass", "shuffle_blocks", "without end");
    BOOST_CHECK_THROW(data::range((i64{1} << 62) + 1) | data::shuffle_blocks(2, 2), option_error);
}

} // namespace shuffle_blocks_test
