// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/kernel/ordering.hpp>
#include <sinter/ops/sort.hpp>
#include <utility>

namespace sinter::inline SINTER_TARGET::cpu {

/// The first `count` of each sorted axis of m blocks [n][inner]; places (which may be null) and
/// values are m blocks [count][inner]. Few are inserted one by one into the list of the best so
/// far; many are put in order digit by digit, which keeps equal ones in theirs and branches on no
/// comparison.
struct sorting {
    static constexpr std::int64_t few = 32;
    static constexpr std::int64_t workspace(const std::int64_t* e) { return round_up(5 * e[sort_extent::n], 16); }
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        return parts * workspace(e);
    }

    static void run(const call& c) {
        const std::int64_t n = c.e[sort_extent::n], inner = c.e[sort_extent::inner], k = c.e[sort_extent::count];
        const std::int64_t end = share(c.m * inner, c.part + 1, c.parts);
        auto* const lists =
            reinterpret_cast<std::uint64_t*>(c.scratch + c.part * workspace(c.e));   // two, then the keys
        auto* const list = reinterpret_cast<std::int32_t*>(lists);
        auto* const keys = reinterpret_cast<float*>(lists + 2 * n);
        const bool descending = c.e[sort_extent::descending] != 0;
        for (std::int64_t r = share(c.m * inner, c.part, c.parts); r < end; ++r) {
            const float* from = c.p[sort_operand::from] + r / inner * n * inner + r % inner;
            for (std::int64_t i = 0; i < n; ++i) keys[i] = from[i * inner];
            const std::int64_t at = r / inner * k * inner + r % inner;
            auto* const places = reinterpret_cast<std::int32_t*>(c.p[sort_operand::places]);
            const auto show = [&](auto place) {
                for (std::int64_t i = 0; i < k; ++i) {
                    c.p[sort_operand::values][at + i * inner] = keys[place(i)];
                    if (places) places[at + i * inner] = place(i);
                }
            };
            if (k <= few) {
                insert(keys, list, n, k, descending);
                show([&](std::int64_t i) { return list[i]; });
            } else {
                const std::uint64_t* const sorted = by_digits(keys, lists, lists + n, n, descending);
                show([&](std::int64_t i) { return static_cast<std::int32_t>(sorted[i]); });
            }
        }
    }

private:
    static void insert(const float* keys, std::int32_t* list, std::int64_t n, std::int64_t k, bool descending) {
        std::int64_t have = 0;
        for (std::int32_t i = 0; i < n; ++i) {
            if (have == k && !stands_before(keys[i], keys[list[k - 1]], descending)) continue;
            std::int64_t j = have < k ? have++ : k - 1;
            for (; j > 0 && stands_before(keys[i], keys[list[j - 1]], descending); --j) list[j] = list[j - 1];
            list[j] = i;
        }
    }
    /// An integer that stands among others as x does among floats: both zeros are one, and all
    /// NaN.
    static std::uint32_t ordered(float x, bool descending) {
        const auto bits = std::bit_cast<std::uint32_t>(x + 0.f);
        const std::uint32_t up = x != x ? 0xffffffff : bits & 0x80000000 ? ~bits : bits | 0x80000000;
        return descending ? ~up : up;
    }
    /// Numbers above, places below: from the last digit to the first, between two lists. A digit
    /// that all share moves nothing.
    static const std::uint64_t* by_digits(const float* keys, std::uint64_t* a, std::uint64_t* b, std::int64_t n,
                                          bool descending) {
        constexpr int digits = 4, width = 8;
        std::uint32_t first[digits][1 << width] = {};
        const auto digit = [](std::uint64_t x, int d) { return x >> (32 + d * width) & ((1 << width) - 1); };
        for (std::int64_t i = 0; i < n; ++i) {
            a[i] = std::uint64_t{ordered(keys[i], descending)} << 32 | static_cast<std::uint64_t>(i);
            for (int d = 0; d < digits; ++d) ++first[d][digit(a[i], d)];
        }
        for (int d = 0; d < digits; ++d) {
            if (first[d][digit(a[0], d)] == n) continue;
            std::uint32_t before = 0;
            for (std::uint32_t& place : first[d]) before += std::exchange(place, before);
            for (std::int64_t i = 0; i < n; ++i) b[first[d][digit(a[i], d)]++] = a[i];
            std::swap(a, b);
        }
        return a;
    }
};

template <class Body, int... X>
struct nest<op::sort, Body, X...> { using type = sorting; };

} // namespace sinter::cpu
