// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/row_cover.hpp>
#include <sinter/kernel/cpu/product/run_tiles.hpp>
#include <sinter/kernel/cpu/product/zeros.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// Products whose left operand is often exactly zero, as images are and what relu or dropout leave: those terms are
/// skipped. A row's sums stay in registers while it goes over the elements that are not zero, each of which multiplies a
/// row of four panels; these lie in the first-level cache for a block of the depth. The other terms are added in the same
/// order as by the tiles, so the result has the same bits. Where a weight is not finite nothing is skipped: zero times
/// infinity is NaN.
namespace sinter::cpu {

inline constexpr int sparse_panels = 4, sparse_rows = 64;
inline constexpr std::int64_t sparse_words = 4096;   ///< of the masks of sparse_rows rows

/// Do the tiles' panels suit this?
constexpr bool suits_sparse_left(const product& q) {
    return q.rows >= sparse_rows / 2 && q.columns >= sparse_panels * panel_width && q.depth >= mask_bits &&
           q.depth <= sparse_words * mask_bits / sparse_rows;
}
/// And are there zeros enough?
inline bool is_sparse_left(const product& q) {
    return suits_sparse_left(q) && non_zero_share(q.a, q.rows, q.depth, q.row_step) <= sparse_share;
}

/// Adds at most 64 of the depth's terms to R rows' sums. A row's elements lie one behind the other; or t_step apart.
template <int R, bool Transposed>
SINTER_INLINE void add_marked_together(const float* const (&x)[R], std::uint64_t mask, const float* w, std::int64_t panel_step,
                                       float* const (&sums)[R], bool first, std::int64_t t_step) {
    constexpr int V = 2 * sparse_panels;
    constexpr std::int64_t sums_step = sparse_rows * panel_width;
    vf c[R][V];
    unroll<R>([&](int r) SINTER_ALWAYS {
        if (first) clear_block(c[r]);
        else unroll<V>([&](int v) SINTER_ALWAYS { c[r][v] = load(sums[r] + v / 2 * sums_step + v % 2 * lanes); });
    });
    for (; mask; mask &= mask - 1) {
        const std::int64_t k = __builtin_ctzll(mask);
        const float* row = w + k * panel_width;
        vf a[R];
        unroll<R>([&](int r) SINTER_ALWAYS { a[r] = splat(x[r][Transposed ? k * t_step : k]); });
        unroll<V>([&](int v) SINTER_ALWAYS {
            vf b = load(row + v / 2 * panel_step + v % 2 * lanes);
            if constexpr (R > 1) pin(b);
            unroll<R>([&](int r) SINTER_ALWAYS { c[r][v] = fma(a[r], b, c[r][v]); });
        });
    }
    unroll<R>([&](int r) SINTER_ALWAYS {
        unroll<V>([&](int v) SINTER_ALWAYS { store(sums[r] + v / 2 * sums_step + v % 2 * lanes, c[r][v]); });
    });
}

/// Two rows at once, where registers hold both sums: what one of them needs is loaded for both, and multiplied by zero for the other
/// where only that one does. That pays where zeros are in the same places, as of neighbouring pixels: there multiply-adds, two a
/// cycle, are what takes time, else their loads, one each and one more for the factor, and the end of another loop.
inline bool pays_together(std::uint64_t a, std::uint64_t b) {
    constexpr int end = 48;
    return 16 * __builtin_popcountll(a | b) <= 9 * (__builtin_popcountll(a) + __builtin_popcountll(b)) + end;
}

/// sums[panel][row][] (+)= the terms of at most 64 of the depth. A row's elements lie one behind the other; or the rows do,
/// and its elements are t_step apart.
template <bool Transposed = false>
__attribute__((noinline)) inline void add_marked_rows(const float* x, std::int64_t x_step, const std::uint64_t* mask,
                                                      std::int64_t mask_step, const float* w, std::int64_t panel_step,
                                                      std::int64_t rows, float* sums, bool first, std::int64_t t_step = 1) {
    for (std::int64_t i = 0; i < rows; ++i, x += x_step, mask += mask_step, sums += panel_width) {
        if constexpr (Transposed && registers >= 32)
            if (i + 1 < rows && pays_together(mask[0], mask[mask_step])) {
                add_marked_together<2, true>({x, x + x_step}, mask[0] | mask[mask_step], w, panel_step, {sums, sums + panel_width}, first,
                                             t_step);
                ++i, x += x_step, mask += mask_step, sums += panel_width;
                continue;
            }
        add_marked_together<1, Transposed>({x}, *mask, w, panel_step, {sums}, first, t_step);
    }
}

/// Zero if n rows of four panels are finite, else NaN. It also brings them into the first-level cache.
template <class = void>
__attribute__((noinline)) inline vf finite_panels(const float* w, std::int64_t panel_step, std::int64_t n) {
    vf s[4] = {};
    for (int p = 0; p < sparse_panels; ++p)
        for (std::int64_t k = 0; k + 4 * lanes <= n * panel_width; k += 4 * lanes)
            unroll<4>([&](int v) SINTER_ALWAYS { s[v] = fma(load(w + p * panel_step + k + v * lanes), zero(), s[v]); });
    if (n % 2)   // two rows are four vectors
        for (int p = 0; p < sparse_panels; ++p)
            unroll<2>([&](int v) SINTER_ALWAYS {
                s[v] = fma(load(w + p * panel_step + (n - 1) * panel_width + v * lanes), zero(), s[v]);
            });
    return s[0] + s[1] + (s[2] + s[3]);
}

/// The sums of some rows and of the four panels from column j0 on; false: a weight was not finite.
template <class = void>
inline bool sum_marked_rows(const product& q, std::int64_t j0, const float* x, const std::uint64_t* mask, std::int64_t rows,
                            float* sums) {
    const std::int64_t words = (q.depth + mask_bits - 1) / mask_bits, panel_step = panel_width * q.depth;
    vf finite = zero();
    for (std::int64_t b = 0; b < words; ++b) {
        const std::int64_t k = b * mask_bits, n = q.depth - k < mask_bits ? q.depth - k : mask_bits;
        const float* w = q.b + j0 * q.depth + k * panel_width;
        finite += finite_panels(w, panel_step, n);
        add_marked_rows(x + k, q.row_step, mask + b, words, w, panel_step, rows, sums, b == 0);
    }
    return sum_lanes(finite) == 0.f;
}

/// The tiles [tile, end), numbered as by run_tiles.
template <class = void>
__attribute__((noinline)) inline void run_sparse_left(const product& q, const finisher& f, const call& c, std::int64_t tile,
                                                      std::int64_t end) {
    alignas(64) float sums[sparse_panels * sparse_rows * panel_width];
    std::uint64_t mask[sparse_words];
    const std::int64_t words = (q.depth + mask_bits - 1) / mask_bits, off_step = q.result_step ? q.result_step : q.columns;
    const auto mark = [&](std::int64_t row, std::int64_t rows) {
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t b = 0; b < words; ++b)
                mask[i * words + b] = row_mask(q.a + (row + i) * q.row_step + b * mask_bits,
                                               q.depth - b * mask_bits < mask_bits ? q.depth - b * mask_bits : mask_bits);
    };
    const panel_groups groups(q, tile, end, sparse_panels);
    if (groups.first > tile) run_tiles(q, f, c, tile, groups.first);
    bool marked = false;
    for (std::int64_t j0 = groups.column; j0 < groups.end_column; j0 += sparse_panels * panel_width)
        for (std::int64_t row = 0; row < q.rows; row += sparse_rows) {
            const std::int64_t rows = q.rows - row < sparse_rows ? q.rows - row : sparse_rows;
            if (!marked) mark(row, rows);
            marked = rows == q.rows;
            if (const float* x = q.a + row * q.row_step; !sum_marked_rows(q, j0, x, mask, rows, sums)) {
                for (std::int64_t i = 0; i < rows * words; ++i) mask[i] = first_bits(q.depth - i % words * mask_bits);
                sum_marked_rows(q, j0, x, mask, rows, sums);
                marked = false;
            }
            for (int p = 0; p < sparse_panels; ++p) {
                const std::int64_t j = j0 + p * panel_width;
                f.finish({sums + p * sparse_rows * panel_width, static_cast<int>(rows), panel_width, panel_width,
                          q.off + row * off_step + j, off_step, q.row + row, q.col + static_cast<int>(j)}, c);
            }
        }
    if (groups.end < end) run_tiles(q, f, c, groups.end, end);
}

} // namespace sinter::cpu
