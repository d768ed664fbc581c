// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// The weights' gradient of a layer of so few units (one, two, ten classes) that a vector along
/// them would be empty to a good part: lanes are the rows of the result, for the left operand's lie
/// one behind the other.
namespace sinter::inline SINTER_TARGET::cpu {

/// More columns than this are worth tiles. Columns that are summed at once.
inline constexpr std::int64_t narrow_gradient = registers >= 32 ? lanes * 3 / 4 : lanes / 2 - 1;
inline constexpr int narrow_at_once = registers >= 32 ? 2 : 1;
/// Columns that become rows: those, or half a vector's.
inline constexpr int most_transposed_columns = narrow_gradient > lanes / 2 ? narrow_gradient : lanes / 2;

/// to[c * to_step + ...V * lanes] = sum over t < n of d[t * d_step + c] * a[t * a_step + ...], for
/// C columns. `there`: as many lanes of a last vector exist.
template <int V, int C, bool Full>
__attribute__((noinline)) void sum_scaled_rows(float* to, std::int64_t to_step, const float* d, std::int64_t d_step,
                                               const float* a, std::int64_t a_step, std::int64_t n, int there) {
    vf s[std::size_t{C}][std::size_t{V}];
    unroll<C>([&](int c) SINTER_ALWAYS { clear_block(s[c]); });
    do {
        vf factor[std::size_t{C}];
        unroll<C>([&](int c) SINTER_ALWAYS { factor[c] = splat(d[c]); });
        unroll<V>([&](int i) SINTER_ALWAYS {
            vf x = Full ? load(a + i * lanes) : load(a + i * lanes, there);
            if constexpr (C > 1) pin(x);
            unroll<C>([&](int c) SINTER_ALWAYS { s[c][i] = fma(factor[c], x, s[c][i]); });
        });
        d += d_step;
        a += a_step;
    } while (--n > 0);
    unroll<C>([&](int c) SINTER_ALWAYS { store_block<V>(s[c], to + c * to_step, 0); });
}

/// to[i][lanes] = element i of each of the columns, which are `step` apart, and zeros behind them;
/// whole blocks of rows. A vector of which parts were just stored would be waited for.
template <class = void>
__attribute__((noinline)) inline void rows_of_columns(const float* from, std::int64_t step, std::int64_t columns,
                                                      std::int64_t rows, float* to) {
    for (std::int64_t i = 0; i < rows; i += lanes) {
        vf r[lanes];
        clear_block(r);
        unroll<most_transposed_columns>([&](auto j)
                                            SINTER_ALWAYS { r[j] = load(j < columns ? from + j * step + i : no_sum); });
        transpose_lanes(r);
        store_block<1>(r, to + i * lanes, lanes);
    }
}

/// The tiles [tile, end), numbered as by run_tiles, of a packed result that is one narrow panel.
template <class = void>
__attribute__((noinline)) inline void run_narrow_gradient(const product& q, const epilogue& f, const call& c,
                                                          std::int64_t tile, std::int64_t end) {
    constexpr int at_once = 8, half = at_once / 2, rows_at_once = at_once * lanes;
    alignas(64) float columns[narrow_gradient * rows_at_once], sums[rows_at_once * lanes];
    const row_cover cover(q.rows);
    const std::int64_t last = end == cover.count ? q.rows : cover.begin(end);
    for (std::int64_t row = cover.begin(tile), n = 0; row < last; row += n) {
        const std::int64_t left = last - row;
        n = left >= rows_at_once ? rows_at_once : left >= half * lanes ? half * lanes : left >= lanes ? lanes : left;
        const float* a = q.a + row * q.row_step;
        const auto sum = [&](auto several, std::int64_t j) SINTER_ALWAYS {
            constexpr int C = several;
            const auto run = n == rows_at_once   ? sum_scaled_rows<at_once, C, true>
                             : n == half * lanes ? sum_scaled_rows<half, C, true>
                             : n == lanes        ? sum_scaled_rows<1, C, true>
                                                 : sum_scaled_rows<1, C, false>;
            run(columns + j * rows_at_once, rows_at_once, q.b + j, q.b_step, a, q.sum_step, q.depth,
                static_cast<int>(n));
        };
        std::int64_t j = 0;
        for (; j + narrow_at_once <= q.columns; j += narrow_at_once)
            sum(std::integral_constant<int, narrow_at_once>{}, j);
        if (narrow_at_once > 1 && j < q.columns) sum(std::integral_constant<int, 1>{}, j);
        rows_of_columns(columns, rows_at_once, q.columns, n, sums);
        f.finish({sums, static_cast<int>(n), lanes, lanes, q.off + row * lanes, lanes, q.row + row, q.col}, c);
    }
}

} // namespace sinter::cpu
