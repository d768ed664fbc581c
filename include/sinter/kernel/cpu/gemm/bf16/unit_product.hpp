// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>

#include <sinter/kernel/cpu/gemm/bf16/pair_product.hpp>
#include <sinter/kernel/cpu/vector/matrix_unit.hpp>

/// Products of pairs of bfloat16 by a matrix unit (matrix_unit.hpp). The right operand lies as for
/// vectors, in panels. The left one lies row by row, rows and pairs filled up to whole blocks;
/// behind a row's last pair there are zeros, behind the last row there is anything, which is
/// multiplied, and not looked at.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr int block_rows = 2 * unit_extent;   ///< four tiles of sums: each of the operands' tiles is used twice

/// Is the unit worth its blocks? Decided by the problem, not by who computes, so that threads do
/// not change results.
template <class Unit>
bool takes(std::int64_t rows) {
    if constexpr (Unit::exists) return lanes == unit_extent && rows >= unit_extent && Unit::ready();
    else return false;
}

/// From row to row of a left operand of so many pairs: not a power of two, after which rows would
/// share few places in a cache.
constexpr std::int64_t pair_row_step(std::int64_t depth) { return round_up(depth, unit_extent) + unit_extent; }
/// Scratch for the left operand, in floats.
constexpr std::int64_t unit_rows_floats(std::int64_t rows, std::int64_t depth) {
    return round_up(rows, block_rows) * pair_row_step(depth);
}

/// sums[R * 16][W * 16], lying `width` apart, of whole steps of 16 pairs; then, if there is one, of
/// what `tail` has of b.
template <class Unit, int R, int W>
__attribute__((noinline)) void multiply_block(Unit& unit, float* sums, std::int64_t width, const float* a,
                                              std::int64_t row_step, const float* b, std::int64_t steps,
                                              const float* tail) {
    unroll<R * W>([&](auto i) SINTER_ALWAYS { unit.template clear<i>(); });
    const auto step = [&](const float* from) SINTER_ALWAYS {
        unroll<R>([&](auto i) SINTER_ALWAYS { unit.template load<4 + i>(a + i * unit_extent * row_step, row_step); });
        unroll<W>([&](auto j) SINTER_ALWAYS { unit.template load<6 + j>(from + j * unit_extent, width); });
        unroll<R * W>([&](auto i) SINTER_ALWAYS { unit.template multiply<i, 4 + i / W, 6 + i % W>(); });
        a += unit_extent;
    };
    for (; steps > 0; --steps, b += unit_extent * width) step(b);
    if (tail) step(tail);
    unroll<R * W>([&](auto i) SINTER_ALWAYS {
        unit.template store<i>(sums + i / W * unit_extent * width + i % W * unit_extent, width);
    });
}

/// As run_pairs: this part's share of the blocks, some rows of them at a time, which stay in the
/// second-level cache while panels pass by.
template <class Unit>
__attribute__((noinline)) void run_unit(const pair_product& q, const epilogue& f, const call& c) {
    alignas(64) float sums[block_rows * panel_width], tail[unit_extent * panel_width];
    Unit unit;
    const std::int64_t count = (q.rows + block_rows - 1) / block_rows,
                       all = count * ((q.columns + panel_width - 1) / panel_width);
    const std::int64_t tile = share(all, c.part, c.parts), end = share(all, c.part + 1, c.parts);
    const std::int64_t workspace = copied_floats / (block_rows * q.depth), block = workspace > 1 ? workspace : 1;
    const std::int64_t steps = q.depth / unit_extent;
    const int rest = static_cast<int>(q.depth % unit_extent);
    for (std::int64_t first = 0; first < count; first += block)
        for (std::int64_t p = tile / count; p * count < end; ++p) {
            const std::int64_t j0 = p * panel_width, from = tile - p * count, to = end - p * count;
            const int w = panel_columns(q.columns, p, panel_width, lanes);
            const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
            const std::int64_t off_step = q.packed_result ? w : q.columns, off = q.packed_result ? j0 * q.rows : j0;
            const float* b = q.b + p * q.panel_step;
            if (rest) {   // what lies behind a panel may be NaN, and zeros do not remove that
                std::memset(tail, 0, sizeof tail);
                std::memcpy(tail, b + steps * unit_extent * w, 4 * static_cast<std::size_t>(rest * w));
            }
            for (std::int64_t i = first > from ? first : from; i < first + block && i < count && i < to; ++i) {
                const std::int64_t row = i * block_rows;
                const int rows = static_cast<int>(q.rows - row < block_rows ? q.rows - row : block_rows);
                const finished done{sums, rows, q.packed_result ? w : there, w, off + row * off_step, off_step, row,
                                    static_cast<int>(j0)};
                if (f.prefetch) f.prefetch(done, c);
                const auto multiply = w == panel_width
                                          ? rows > unit_extent ? multiply_block<Unit, 2, 2> : multiply_block<Unit, 1, 2>
                                      : rows > unit_extent ? multiply_block<Unit, 2, 1>
                                                           : multiply_block<Unit, 1, 1>;
                multiply(unit, sums, w, q.a + row * q.row_step, q.row_step, b, steps, rest ? tail : nullptr);
                f.finish(done, c);
            }
        }
}

/// Columns [16 first, 16 end) of a row-major [depth][columns], rounded, as rows of pairs, `step`
/// apart. Columns and depth are filled up with zeros.
__attribute__((noinline)) inline void transpose_into_pairs(const float* from, std::int64_t depth, std::int64_t columns,
                                                           std::int64_t first, std::int64_t end, float* to,
                                                           std::int64_t step) {
    for (std::int64_t t = 0; t < depth; t += 2 * lanes)
        for (std::int64_t g = first; g < end; ++g) {
            const std::int64_t j = g * lanes;
            const int n = static_cast<int>(columns - j < lanes ? columns - j : lanes);
            const auto row = [&](std::int64_t r)
                                 SINTER_ALWAYS { return r < depth ? load(from + r * columns + j, n) : zero(); };
            vf v[lanes];
            for (int i = 0; i < lanes; ++i) v[i] = pairs_of(row(t + 2 * i), row(t + 2 * i + 1));
            transpose_lanes(v);
            for (int i = 0; i < lanes; ++i) store(to + (j + i) * step + t / 2, v[i]);
        }
}

} // namespace sinter::cpu
