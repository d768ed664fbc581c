// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <cstdint>

#include <sinter/base/target_namespace.hpp>

/// Sums in the one order that all synchronous strategies have: a binary tree over the shards,
/// ((x0 + x1) + (x2 + x3)) + ..., whose last ones go without a partner where their number is no
/// power of two. Who adds which pair never changes a bit.
namespace sinter::inline SINTER_TARGET::strategy_parts {

/// How many of `count` operands the left half of a tree has: the largest power of two below.
constexpr int left_of_tree(int count) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1))); }

using sum_line = float __attribute__((vector_size(64)));   ///< 16 floats, as arenas are aligned
inline constexpr std::int64_t sum_block = 64;               ///< lines of a block that stays in the first cache

/// Lines [0, n), n at most sum_block, of the sum of `count` operands, in `to` or where the only
/// operand is.
inline const sum_line* tree_of_lines(sum_line* to, const float* const* from, int count, std::int64_t at,
                                     std::int64_t n) {
    const auto operand = [&](int i) { return reinterpret_cast<const sum_line*>(from[i]) + at; };
    if (count == 1) return operand(0);
    if (count == 4) {
        const sum_line *a = operand(0), *b = operand(1), *c = operand(2), *d = operand(3);
        for (std::int64_t i = 0; i < n; ++i) to[i] = (a[i] + b[i]) + (c[i] + d[i]);
        return to;
    }
    const int left = left_of_tree(count);
    sum_line mine[sum_block], other[sum_block];
    const sum_line* const a = tree_of_lines(mine, from, left, at, n);
    const sum_line* const b = tree_of_lines(other, from + left, count - left, at, n);
    for (std::int64_t i = 0; i < n; ++i) to[i] = a[i] + b[i];
    return to;
}
/// Lines [first, end) of 16 floats of the sum of `count` operands, in `to`, which may be one of
/// them.
inline void tree_sum(float* to, const float* const* from, int count, std::int64_t first, std::int64_t end) {
    for (std::int64_t at = first; at < end; at += sum_block) {
        const std::int64_t n = end - at < sum_block ? end - at : sum_block;
        sum_line* const here = reinterpret_cast<sum_line*>(to) + at;
        const sum_line* const sum = tree_of_lines(here, from, count, at, n);
        if (sum != here)
            for (std::int64_t i = 0; i < n; ++i) here[i] = sum[i];
    }
}
/// The same of single numbers.
inline double tree_sum(const double* x, int count) {
    if (count == 1) return *x;
    const int left = left_of_tree(count);
    return tree_sum(x, left) + tree_sum(x + left, count - left);
}

} // namespace sinter::strategy_parts
