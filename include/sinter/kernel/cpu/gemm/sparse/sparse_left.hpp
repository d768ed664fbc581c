// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/prefetch_rows.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_list.hpp>
#include <sinter/kernel/cpu/gemm/sparse/zeros.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// Products whose left operand is often exactly zero, as images are and what relu or dropout leave:
/// those terms are skipped. A row's sums stay in registers while it goes over the elements that are
/// not zero, each of which multiplies a row of four panels; these lie in the first-level cache for
/// a block of the depth. Of two panels, which is what several threads have each of a narrow
/// product, two rows are gone over at once. The other terms are added in the same order as by the
/// tiles, so the result has the same bits. Where a weight is not finite nothing is skipped: zero
/// times infinity is NaN.
namespace sinter::inline SINTER_TARGET::cpu {

/// Panels that a row goes over at once, or fewer of them, and rows that do so one after the other
/// while these lie in the cache.
inline constexpr int sparse_panels = 4, fewer_panels = 2, sparse_rows = 64;
inline constexpr std::int64_t sparse_words = 4096;   ///< of the masks of sparse_rows rows

/// Do the tiles' panels suit this?
constexpr bool suits_sparse_left(const product& q) {
    return q.rows >= sparse_rows / 2 && q.columns >= fewer_panels * panel_width && q.depth >= mask_bits &&
           q.depth <= sparse_words * mask_bits / sparse_rows;
}
/// And are there zeros enough?
inline bool is_sparse_left(const product& q) {
    return suits_sparse_left(q) && non_zero_share(q.a, q.rows, q.depth, q.row_step) <= sparse_share;
}

/// Where fewer panels are left over, it pays with more zeros only: each element has more loads to
/// its multiply-adds.
inline constexpr float fewer_share = 0.54f;
/// The tiles that zeros are skipped in; share(): of the left operand, what is not zero.
template <class F>
inline panel_groups sparse_groups(const product& q, std::int64_t tile, std::int64_t end, F share) {
    const panel_groups groups(q, tile, end, sparse_panels);
    const bool all = groups.end > groups.first && groups.first == tile && groups.end == end;
    return all || share() > fewer_share ? groups : panel_groups(q, tile, end, fewer_panels);
}

inline constexpr std::int64_t sums_step = sparse_rows * panel_width;   ///< from panel to panel of the sums

/// The sums of a row of P panels.
template <int P>
SINTER_INLINE void begin_row(vf (&c)[std::size_t{2 * P}], const float* sums, bool first) {
    if (first) clear_block(c);
    else unroll<2 * P>([&](int v) SINTER_ALWAYS { c[v] = load(sums + v / 2 * sums_step + v % 2 * lanes); });
}
template <int P>
SINTER_INLINE void end_row(const vf (&c)[std::size_t{2 * P}], float* sums) {
    unroll<2 * P>([&](int v) SINTER_ALWAYS { store(sums + v / 2 * sums_step + v % 2 * lanes, c[v]); });
}

/// Adds at most 64 of the depth's terms to R rows' sums. A row's elements lie one behind the other;
/// or t_step apart.
template <int P, std::size_t R, bool Transposed>
SINTER_INLINE void add_marked_together(const float* const (&x)[R], std::uint64_t mask, const float* w,
                                       std::int64_t panel_step, float* const (&sums)[R], bool first,
                                       std::int64_t t_step) {
    vf c[R][std::size_t{2 * P}];
    unroll<R>([&](int r) SINTER_ALWAYS { begin_row<P>(c[r], sums[r], first); });
    for (; mask; mask &= mask - 1) {
        const std::int64_t k = __builtin_ctzll(mask);
        const float* row = w + k * panel_width;
        vf a[std::size_t{R}];
        unroll<R>([&](int r) SINTER_ALWAYS { a[r] = splat(x[r][Transposed ? k * t_step : k]); });
        unroll<2 * P>([&](int v) SINTER_ALWAYS {
            vf b = load(row + v / 2 * panel_step + v % 2 * lanes);
            if constexpr (R > 1) pin(b);
            unroll<R>([&](int r) SINTER_ALWAYS { c[r][v] = fma(a[r], b, c[r][v]); });
        });
    }
    unroll<R>([&](int r) SINTER_ALWAYS { end_row<P>(c[r], sums[r]); });
}

/// As that, of two rows with as many elements each: fewer panels' sums, of one row, would wait for
/// each other.
template <int P, bool Transposed>
SINTER_INLINE void add_marked_apart(const float* x0, const float* x1, std::uint64_t m0, std::uint64_t m1,
                                    const float* w, std::int64_t panel_step, float* sums0, float* sums1, bool first,
                                    std::int64_t t_step) {
    vf c[2][std::size_t{2 * P}];
    begin_row<P>(c[0], sums0, first);
    begin_row<P>(c[1], sums1, first);
    const auto add = [&](vf (&to)[std::size_t{2 * P}], const float* x, std::uint64_t mask) SINTER_ALWAYS {
        const std::int64_t k = __builtin_ctzll(mask);
        const float* row = w + k * panel_width;
        const vf a = splat(x[Transposed ? k * t_step : k]);
        unroll<2 * P>([&](int v)
                          SINTER_ALWAYS { to[v] = fma(a, load(row + v / 2 * panel_step + v % 2 * lanes), to[v]); });
    };
    for (; m0; m0 &= m0 - 1, m1 &= m1 - 1) {
        add(c[0], x0, m0);
        add(c[1], x1, m1);
    }
    end_row<P>(c[0], sums0);
    end_row<P>(c[1], sums1);
}

/// Two rows at once, where registers hold both sums: what one of them needs is loaded for both, and
/// multiplied by zero for the other where only that one does. That pays where zeros are in the same
/// places, as of neighbouring pixels: there multiply-adds, two a cycle, are what takes time, else
/// their loads, one each and one more for the factor, and the end of another loop.
inline bool pays_together(std::uint64_t a, std::uint64_t b) {
    constexpr int end = 48;
    return 16 * __builtin_popcountll(a | b) <= 9 * (__builtin_popcountll(a) + __builtin_popcountll(b)) + end;
}
/// As many elements each, of fewer panels: a quarter more of multiply-adds against five loads for
/// four of them.
inline bool pays_for_equals(std::uint64_t a, std::uint64_t either) {
    return 4 * __builtin_popcountll(either) <= 5 * __builtin_popcountll(a) + 4;
}

/// sums[panel][row][] (+)= the terms of at most 64 of the depth. A row's elements lie one behind
/// the other; or the rows do, and its elements are t_step apart: these load `prefetch` ahead, if it
/// is there, two rows at a time.
template <int P, bool Transposed = false>
__attribute__((noinline)) inline void
add_marked_rows(const float* x, std::int64_t x_step, const std::uint64_t* mask, std::int64_t mask_step, const float* w,
                std::int64_t panel_step, std::int64_t rows, float* sums, bool first, std::int64_t t_step = 1,
                const prefetch_rows* prefetch = nullptr) {
    constexpr bool fewer = P < sparse_panels;
    std::int64_t i = 0;
    if constexpr (fewer && !Transposed)
        for (; i + lanes <= rows; i += lanes) {
            std::uint64_t m[lanes];
            std::int32_t row[lanes];
            pair_masks<2>(mask + i * mask_step, mask_step, m, row);
            for (int l = 0; l < lanes; l += 2) {
                const std::int64_t r0 = i + row[l], r1 = i + row[l + 1];
                const float *x0 = x + r0 * x_step, *x1 = x + r1 * x_step;
                float *to0 = sums + r0 * panel_width, *to1 = sums + r1 * panel_width;
                if (const std::uint64_t either = mask[r0 * mask_step] | mask[r1 * mask_step];
                    pays_for_equals(m[l + 1], either))
                    add_marked_together<P, 2, false>({x0, x1}, either, w, panel_step, {to0, to1}, first, t_step);
                else add_marked_apart<P, false>(x0, x1, m[l], m[l + 1], w, panel_step, to0, to1, first, t_step);
            }
        }
    x += i * x_step, mask += i * mask_step, sums += i * panel_width;
    [[maybe_unused]] int prefetched = 0;
    for (std::int64_t n; i < rows; i += n, x += n * x_step, mask += n * mask_step, sums += n * panel_width) {
        n = 1;
        if constexpr (Transposed)
            for (; prefetch && prefetched <= i; prefetched += 2) prefetch->prefetch(prefetched, 2);
        if constexpr (Transposed && (fewer || registers >= 32))
            if (i + 1 < rows) {   // neighbours
                n = 2;
                const std::uint64_t m0 = mask[0], m1 = mask[mask_step];
                if (pays_together(m0, m1)) {
                    add_marked_together<P, 2, true>({x, x + x_step}, m0 | m1, w, panel_step, {sums, sums + panel_width},
                                                    first, t_step);
                    continue;
                }
                if constexpr (fewer) {
                    const int n0 = __builtin_popcountll(m0), n1 = __builtin_popcountll(m1);
                    if (n0 <= 4 * n1 &&
                        n1 <= 4 * n0) {   // else a wait costs less than what would be multiplied by zero
                        add_marked_apart<P, true>(x, x + x_step, n0 < n1 ? m0 | lowest_zeros(m0, n1 - n0) : m0,
                                                  n1 < n0 ? m1 | lowest_zeros(m1, n0 - n1) : m1, w, panel_step, sums,
                                                  sums + panel_width, first, t_step);
                        continue;
                    }
                }
                n = 1;
            }
        add_marked_together<P, 1, Transposed>({x}, *mask, w, panel_step, {sums}, first, t_step);
    }
}

/// Zero if n rows of P panels are finite, else NaN. It also brings them into the first-level cache.
template <int P = sparse_panels>
__attribute__((noinline)) inline vf finite_panels(const float* w, std::int64_t panel_step, std::int64_t n) {
    vf s[4] = {};
    for (int p = 0; p < P; ++p)
        for (std::int64_t k = 0; k + 4 * lanes <= n * panel_width; k += 4 * lanes)
            unroll<4>([&](int v) SINTER_ALWAYS { s[v] = fma(load(w + p * panel_step + k + v * lanes), zero(), s[v]); });
    if (n % 2)   // two rows are four vectors
        for (int p = 0; p < P; ++p)
            unroll<2>([&](int v) SINTER_ALWAYS {
                s[v] = fma(load(w + p * panel_step + (n - 1) * panel_width + v * lanes), zero(), s[v]);
            });
    return s[0] + s[1] + (s[2] + s[3]);
}

/// The sums of some rows and of the P panels from column j0 on; false: a weight was not finite.
template <int P>
inline bool sum_marked_rows(const product& q, std::int64_t j0, const float* x, const std::uint64_t* mask,
                            std::int64_t rows, float* sums) {
    const std::int64_t words = (q.depth + mask_bits - 1) / mask_bits, panel_step = panel_width * q.depth;
    vf finite = zero();
    for (std::int64_t b = 0; b < words; ++b) {
        const std::int64_t k = b * mask_bits, n = q.depth - k < mask_bits ? q.depth - k : mask_bits;
        const float* w = q.b + j0 * q.depth + k * panel_width;
        finite += finite_panels<P>(w, panel_step, n);
        if constexpr (P < sparse_panels)   // of several threads: one that made masks since may have taken the rows from
                                           // this one's cache
            for (std::int64_t i = 0; i < rows; ++i)
                for (std::int64_t t = k + mask_bits; t < k + 2 * mask_bits; t += floats_a_line)
                    __builtin_prefetch(x + i * q.row_step + t);
        add_marked_rows<P>(x + k, q.row_step, mask + b, words, w, panel_step, rows, sums, b == 0);
    }
    return sum_lanes(finite) == 0.f;
}

/// The tiles [tile, end), numbered as by run_tiles.
template <class = void>
__attribute__((noinline)) inline void run_sparse_left(const product& q, const epilogue& f, const call& c,
                                                      std::int64_t tile, std::int64_t end) {
    alignas(64) float sums[sparse_panels * sparse_rows * panel_width];
    std::uint64_t mask[sparse_words];
    const std::int64_t words = (q.depth + mask_bits - 1) / mask_bits,
                       off_step = q.result_step ? q.result_step : q.columns;
    const auto mark = [&](std::int64_t row, std::int64_t rows) {
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t b = 0; b < words; ++b)
                mask[i * words + b] =
                    row_mask(q.a + (row + i) * q.row_step + b * mask_bits,
                             q.depth - b * mask_bits < mask_bits ? q.depth - b * mask_bits : mask_bits);
    };
    const panel_groups groups =
        sparse_groups(q, tile, end, [&] { return non_zero_share(q.a, q.rows, q.depth, q.row_step); });
    if (groups.first > tile) run_tiles(q, f, c, tile, groups.first);
    bool marked = false;
    for (std::int64_t j0 = groups.column, width; j0 < groups.end_column; j0 += width) {
        const bool fewer = groups.end_column - j0 < sparse_panels * panel_width;
        width = (fewer ? fewer_panels : sparse_panels) * panel_width;
        const auto sum = fewer ? sum_marked_rows<fewer_panels> : sum_marked_rows<sparse_panels>;
        for (std::int64_t row = 0; row < q.rows; row += sparse_rows) {
            const std::int64_t rows = q.rows - row < sparse_rows ? q.rows - row : sparse_rows;
            if (!marked) mark(row, rows);
            marked = rows == q.rows;
            if (const float* x = q.a + row * q.row_step; !sum(q, j0, x, mask, rows, sums)) {
                for (std::int64_t i = 0; i < rows * words; ++i) mask[i] = first_bits(q.depth - i % words * mask_bits);
                sum(q, j0, x, mask, rows, sums);
                marked = false;
            }
            for (std::int64_t j = j0; j < j0 + width; j += panel_width)
                f.finish({sums + (j - j0) * sparse_rows, static_cast<int>(rows), panel_width, panel_width,
                          q.off + row * off_step + j, off_step, q.row + row, q.col + static_cast<int>(j)}, c);
        }
    }
    if (groups.end < end) run_tiles(q, f, c, groups.end, end);
}

} // namespace sinter::cpu
