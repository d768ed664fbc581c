// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/bf16/bfloat16.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/gemm/transposed_product.hpp>

/// The loops of products whose operands lie as pairs of bfloat16: the tiles of product.hpp with
/// another step.
namespace sinter::inline SINTER_TARGET::cpu {

/// One tile: to[i][j] = the sum over t < n (n >= 1) of both halves of x[i * row_step + t *
/// sum_step] * b[t * NR * lanes + j]: MR rows of NR vectors, each element summed in the order of t.
template <int MR, int NR>
__attribute__((noinline)) void multiply_pairs(float* to, const float* x, std::int64_t row_step, std::int64_t sum_step,
                                              const float* b, std::int64_t n) {
    vf c[std::size_t{MR * NR}];
    unroll<MR * NR>([&](int i) SINTER_ALWAYS { c[i] = zero(); });
    const float* row[std::size_t{(MR + 2) / 3}];   // few registers, as in accumulate()
    unroll<(MR + 2) / 3>([&](int i) SINTER_ALWAYS {
        row[i] = x + 3 * i * row_step;
        asm("" : "+r"(row[i]));
    });
    do {
        vu v[std::size_t{NR}];
        unroll<NR>([&](int j) SINTER_ALWAYS { v[j] = (vu)load(b + j * lanes); });
        unroll<MR>([&](int i) SINTER_ALWAYS {
            std::int32_t pair;
            std::memcpy(&pair, row[i / 3] + i % 3 * row_step, 4);
            const vu a = (vu)splat(pair);
            unroll<NR>([&](int j) SINTER_ALWAYS { c[i * NR + j] = dot_pairs(c[i * NR + j], a, v[j]); });
        });
        unroll<(MR + 2) / 3>([&](int i) SINTER_ALWAYS { row[i] += sum_step; });
        b += NR * lanes;
    } while (--n > 0);
    unroll<MR * NR>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}
using pair_function = decltype(&multiply_pairs<1, 1>);
template <int NR>
pair_function pair_tile_of(int height) {
    return height == tile_rows         ? multiply_pairs<tile_rows, NR>
           : height == small_tile_rows ? multiply_pairs<small_tile_rows, NR>
                                       : multiply_pairs<1, NR>;
}

/// result[rows][columns] of `depth` pairs. The left operand lies row by row, or (row_step 0) as
/// tiles; the right one in panels.
struct pair_product {
    const float* a;
    std::int64_t row_step, tile_step;
    const float* b;
    std::int64_t panel_step;
    std::int64_t rows, columns, depth;
    bool packed_result;
};

/// This part's share of the tiles, numbered as by run_tiles: some at a time, which stay in the
/// second-level cache while panels pass by.
template <class = void>
__attribute__((noinline)) inline void run_pairs(const pair_product& q, const epilogue& f, const call& c) {
    alignas(64) float sums[tile_rows * panel_width];
    const row_cover cover(q.rows);
    const std::int64_t count = cover.count, all = count * ((q.columns + panel_width - 1) / panel_width);
    const std::int64_t tile = share(all, c.part, c.parts), end = share(all, c.part + 1, c.parts);
    const std::int64_t workspace = copied_floats / (tile_rows * q.depth), block = workspace > 1 ? workspace : 1;
    for (std::int64_t first = 0; first < count; first += block)
        for (std::int64_t p = tile / count; p * count < end; ++p) {
            const std::int64_t j0 = p * panel_width, from = tile - p * count, to = end - p * count;
            const int w = panel_columns(q.columns, p, panel_width, lanes);
            const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
            const std::int64_t off_step = q.packed_result ? w : q.columns, off = q.packed_result ? j0 * q.rows : j0;
            const float* b = q.b + p * q.panel_step;
            std::int64_t i = first > from ? first : from;
            for (; i < first + block && i < count && i < to; ++i) {
                const int height = cover.height(i);
                const std::int64_t begin = cover.begin(i), row = cover.first_row(i);
                const float* x = q.row_step ? q.a + row * q.row_step : q.a + i * q.tile_step;
                const finished done{sums + (begin - row) * w,
                                    static_cast<int>(row + height - begin),
                                    q.packed_result ? w : there,
                                    w,
                                    off + begin * off_step,
                                    off_step,
                                    begin,
                                    static_cast<int>(j0)};
                if (f.prefetch) f.prefetch(done, c);
                (w == panel_width ? pair_tile_of<2>(height) : pair_tile_of<1>(height))(
                    sums, x, q.row_step ? q.row_step : 1, q.row_step ? 1 : height, b, q.depth);
                f.finish(done, c);
            }
        }
}

/// Where the copies lie: tiles as [tile][depth][its height] and panels as [panel][depth][its
/// columns], a little apart so that they begin in different sets of a cache.
struct packed_operands {
    std::int64_t tiles, panels, tile_step, panel_step;
    constexpr packed_operands(std::int64_t rows, std::int64_t columns, std::int64_t depth)
        : tiles(row_cover(rows).count), panels((columns + panel_width - 1) / panel_width),
          tile_step(round_up(tile_rows * depth + lanes, 16) + 16), panel_step(depth * panel_width + 16) {}
    constexpr std::int64_t panel_floats() const { return panels * panel_step; }
    constexpr std::int64_t tile_floats() const { return tiles * tile_step; }
};

/// As copy_tile, of pairs of rows of a row-major [depth][rows]: tiles [tile, end), each [(depth +
/// 1) / 2][its height].
__attribute__((noinline)) inline void pair_tiles(const float* a, std::int64_t rows, std::int64_t depth,
                                                 std::int64_t tile, std::int64_t end, float* to, std::int64_t step) {
    const row_cover cover(rows);
    for (std::int64_t t = 0; t < depth; t += 2)
        for (std::int64_t i = tile; i < end; ++i) {
            const int height = cover.height(i);
            const float* from = a + t * rows + cover.first_row(i);
            float* place = to + (i - tile) * step + t / 2 * height;
            for (int j = 0; j < height;
                 j += lanes) {   // what is too much is written over; there is room behind the last
                const int n = height - j < lanes ? height - j : lanes;
                store(place + j, pairs_of(load(from + j, n), t + 1 < depth ? load(from + rows + j, n) : zero()));
            }
        }
}

/// Rows 2 t and 2 t + 1 of [depth][w] at `from`, `step` floats apart, as pairs [(depth + 1) /
/// 2][w]; of w columns `there` exist. What is cold is prefetched some rows ahead.
__attribute__((noinline)) inline void pair_panel(const float* from, std::int64_t step, std::int64_t depth, int w,
                                                 int there, float* to) {
    constexpr std::int64_t ahead = 32;
    for (std::int64_t t = 0; t < depth; t += 2, from += 2 * step, to += w) {
        const bool two = t + 1 < depth;
        for (int j = 0; j < w; j += lanes) {
            __builtin_prefetch(from + ahead * step + j);
            __builtin_prefetch(from + (ahead + 1) * step + j);
            if (there - j >= lanes) {
                store(to + j, pairs_of(load(from + j), two ? load(from + step + j) : zero()));
                continue;
            }
            const int n = there > j ? there - j : 0;
            store(to + j, pairs_of(load(from + j, n), two ? load(from + step + j, n) : zero()));
        }
    }
}

} // namespace sinter::cpu
