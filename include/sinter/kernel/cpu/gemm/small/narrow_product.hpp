// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// Products of so few columns (an output or some) that a vector along them would be nearly empty:
/// lanes are rows, squares of which are transposed in registers. Every element is summed as a tile
/// does it, even and odd terms apart, so the result has the same bits.
namespace sinter::inline SINTER_TARGET::cpu {

/// More columns than this are worth tiles.
inline constexpr std::int64_t narrow_product = lanes >= 8 ? lanes / 2 : 0;
/// The numbers of columns that there are loops for; between them the padding is summed, too.
inline constexpr int narrow_widths[] = {1, 2, 4, 6, 8};
constexpr int narrow_loop(std::int64_t columns) {   ///< which of them
    int i = 0;
    while (narrow_widths[i] < columns) ++i;
    return i;
}
inline constexpr int all_narrow_loops = (2 << narrow_loop(narrow_product)) - 1;   ///< bits

constexpr bool is_narrow_product(const product& q) {
    return q.columns <= narrow_product && q.rows >= lanes && q.depth >= lanes &&
           q.depth <= streamed_floats / panel_width;
}

/// Adds the terms of the next n (Whole: `lanes`) of the depth to the sums of `lanes` rows by N
/// columns.
template <int N, bool Whole>
SINTER_INLINE void add_square(vf (&s)[std::size_t{2 * N}], const float* x, std::int64_t row_step, const float* b,
                              int n) {
    vf r[lanes];
    unroll<lanes>([&](auto i) SINTER_ALWAYS { r[i] = Whole ? load(x + i * row_step) : load(x + i * row_step, n); });
    transpose_lanes(r);
    unroll<lanes>([&](auto t) SINTER_ALWAYS {
        if (Whole || t < n)
            unroll<N>([&](auto j) SINTER_ALWAYS {
                constexpr int k = 2 * j + t % 2;
                s[k] = fma(r[t], splat(b[t * lanes + j]), s[k]);
            });
    });
}

/// to[i * lanes + j] = row i, column j.
template <int N>
__attribute__((noinline)) void multiply_narrow(float* to, const float* x, std::int64_t row_step, const float* b,
                                               std::int64_t depth) {
    vf s[std::size_t{2 * N}];
    clear_block(s);
    std::int64_t t = 0;
    for (; t + lanes <= depth; t += lanes) add_square<N, true>(s, x + t, row_step, b + t * lanes, lanes);
    if (t < depth) add_square<N, false>(s, x + t, row_step, b + t * lanes, static_cast<int>(depth - t));
    unroll<N>([&](auto j) SINTER_ALWAYS {
        alignas(64) float across[lanes];
        store(across, s[2 * j] + s[2 * j + 1]);
        for (int i = 0; i < lanes; ++i) to[i * lanes + j] = across[i];
    });
}

/// The loop for so many columns, of those whose bits are set.
template <int Loops, int I = 0>
auto narrow_loop_of(int i) {
    if constexpr (Loops >> (I + 1) == 0) return multiply_narrow<narrow_widths[I]>;
    else if constexpr (Loops >> I & 1)
        return i == I ? multiply_narrow<narrow_widths[I]> : narrow_loop_of<Loops, I + 1>(i);
    else return narrow_loop_of<Loops, I + 1>(i);
}

/// The tiles [tile, end), numbered as by run_tiles, of a product with a single, packed panel.
template <class = void>
__attribute__((noinline)) inline void run_narrow_tiles(const product& q, const epilogue& f, const call& c,
                                                       std::int64_t tile, std::int64_t end,
                                                       decltype(&multiply_narrow<1>) multiply) {
    alignas(64) float space[(lanes + finished_rows) * lanes] = {};
    float* const sums = space + lanes * lanes;   // of row `begin`; those before it may be summed once more
    const row_cover cover(q.rows);
    const std::int64_t last = end == cover.count ? q.rows : cover.begin(end),
                       off_step = q.result_step ? q.result_step : q.columns;
    for (std::int64_t begin = cover.begin(tile), n = 0; begin < last; begin += n) {
        n = last - begin < finished_rows ? last - begin : finished_rows;
        for (std::int64_t i = begin; i < begin + n; i += lanes) {
            const std::int64_t row = i + lanes <= q.rows ? i : q.rows - lanes;
            multiply(sums + (row - begin) * lanes, q.a + row * q.row_step, q.row_step, q.b, q.depth);
        }
        f.finish({sums, static_cast<int>(n), static_cast<int>(q.columns), lanes, q.off + begin * off_step, off_step,
                  q.row + begin, q.col},
                 c);
    }
}

template <int Loops = all_narrow_loops>
void run_narrow_product(const product& q, const epilogue& f, const call& c, std::int64_t tile, std::int64_t end) {
    run_narrow_tiles(q, f, c, tile, end, narrow_loop_of<Loops>(narrow_loop(q.columns)));
}

} // namespace sinter::cpu
