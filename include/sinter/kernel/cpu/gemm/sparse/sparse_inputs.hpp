// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/gemm/prefetch_rows.hpp>
#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_left.hpp>

/// The weights' gradient where the inputs are often exactly zero, as images are: those terms are
/// skipped. For each input the examples in which it is not zero are gone over, with lanes along the
/// units, whose gradients lie in the first-level cache for all examples. The terms are added in the
/// same order as by the tiles, so the result has the same bits. Where a gradient is not finite
/// nothing is skipped: zero times infinity is NaN.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr int sparse_inputs = 2 * lanes;          ///< at a time: a line of each example, or part of it
inline constexpr std::int64_t most_examples = 512;

constexpr bool suits_sparse_inputs(const product& q) {
    return q.depth >= 32 && q.depth <= most_examples && q.rows >= mask_bits && q.rows % lanes == 0 &&
           q.columns >= sparse_panels * panel_width;
}
/// Of the inputs, the share that is not zero; 1 where the extents do not suit.
inline float input_share(const product& q) {
    return suits_sparse_inputs(q) ? non_zero_share(q.a, q.depth, q.rows, q.sum_step) : 1.f;
}

/// Some panels of the gradients from column j0 on, as [chunk of 64 examples][panel][64][]; false if
/// one is not finite.
__attribute__((noinline)) inline bool copy_gradients(const product& q, std::int64_t j0, int panels, float* to) {
    vf finite = zero();
    for (std::int64_t i = 0; i < q.depth; ++i)
        for (int v = 0; v < 2 * panels; ++v) {
            const vf d = load(q.b + i * q.b_step + j0 + v * lanes);
            finite = fma(d, zero(), finite);
            const std::int64_t row = (i / mask_bits * panels + v / 2) * mask_bits + i % mask_bits;
            store(to + row * panel_width + v % 2 * lanes, d);
        }
    return sum_lanes(finite) == 0.f;
}

/// Where neighbouring inputs have zeros in the same places, as pixels have, sums of two of them by
/// three panels fill 16 registers.
inline constexpr int alike_panels = registers >= 32 ? sparse_panels : 3;
/// The masks of all inputs, [word][input]; they are made first where something depends on them and
/// they are few.
struct input_masks {
    std::uint64_t all[alike_panels < sparse_panels ? sparse_words : 1];
    bool made = false, alike = false;

    explicit input_masks(const product& q) {
        const std::int64_t words = (q.depth + mask_bits - 1) / mask_bits;
        if (alike_panels == sparse_panels || words * q.rows > sparse_words) return;
        std::int64_t each = 0, either = 0;
        std::uint64_t* m = all;
        for (std::int64_t i = 0; i < q.depth; i += mask_bits)
            for (std::int64_t k = 0; k < q.rows; k += lanes, m += lanes) {
                column_masks(q.a + i * q.sum_step + k, q.sum_step, std::min<std::int64_t>(q.depth - i, mask_bits), m);
                for (int l = 0; l < lanes; l += 2) {
                    each += __builtin_popcountll(m[l]) + __builtin_popcountll(m[l + 1]);
                    either += __builtin_popcountll(m[l] | m[l + 1]);
                }
            }
        made = true;
        alike = 8 * either <= 5 * each;
    }
    /// Panels at a time, of those that are left; never one in the end.
    constexpr int panels(std::int64_t left) const {
        if (alike && left != sparse_panels && left >= alike_panels) return alike_panels;
        return left >= sparse_panels ? sparse_panels : fewer_panels;
    }
};

/// The tiles [tile, end), numbered as by run_tiles.
template <class = void>
__attribute__((noinline)) inline void run_sparse_inputs(const product& q, const epilogue& f, const call& c,
                                                        std::int64_t tile, std::int64_t end) {
    alignas(64) float sums[sparse_panels * sparse_rows * panel_width], d[most_examples * sparse_panels * panel_width];
    std::uint64_t mask[sparse_inputs];
    const input_masks masks(q);
    const bool by_lines = prefetches_by_lines(q, f);
    const panel_groups groups = sparse_groups(q, tile, end, [&] { return input_share(q); });
    if (groups.first > tile) run_tiles(q, f, c, tile, groups.first);
    for (std::int64_t j0 = groups.column, width; j0 < groups.end_column; j0 += width) {
        const int panels = masks.panels((groups.end_column - j0) / panel_width);
        width = panels * panel_width;
        const bool finite = copy_gradients(q, j0, panels, d);
        for (std::int64_t k = 0; k < q.rows; k += sparse_inputs) {
            const int n = static_cast<int>(q.rows - k < sparse_inputs ? q.rows - k : sparse_inputs);
            const finished block{nullptr,
                                 n,
                                 panel_width,
                                 panel_width,
                                 q.off + j0 * q.rows + k * panel_width,
                                 panel_width,
                                 q.row + k,
                                 q.col + static_cast<int>(j0)};
            const prefetch_rows prefetch{f, c, block, q.rows * panel_width, panels};
            for (std::int64_t i = 0; i < q.depth; i += mask_bits) {
                const std::int64_t examples = q.depth - i < mask_bits ? q.depth - i : mask_bits;
                const float* x = q.a + i * q.sum_step + k;
                if (finite && !masks.made)
                    for (int l = 0; l < n; l += lanes) column_masks(x + l, q.sum_step, examples, mask + l);
                else if (!finite)
                    for (std::uint64_t& m : mask) m = first_bits(examples);
                const std::uint64_t* marks = finite && masks.made ? masks.all + i / mask_bits * q.rows + k : mask;
                const bool prefetches = by_lines && i + mask_bits >= q.depth;   // by the last examples' sums
                const auto add =
                    [&](auto count) SINTER_ALWAYS {   // called by name, so that compilers see what is constant
                        add_marked_rows<count, true>(x, 1, marks, 1, d + i * width, mask_bits * panel_width, n, sums,
                                                     i == 0, q.sum_step, prefetches ? &prefetch : nullptr);
                    };
                if (panels == fewer_panels) add(std::integral_constant<int, fewer_panels>{});
                else if (panels == alike_panels) add(std::integral_constant<int, alike_panels>{});
                else add(std::integral_constant<int, sparse_panels>{});
            }
            for (int p = 0; p < panels; ++p) {
                const std::int64_t j = j0 + p * panel_width;
                f.finish({sums + p * sparse_rows * panel_width, n, panel_width, panel_width,
                          q.off + j * q.rows + k * panel_width, panel_width, q.row + k, q.col + static_cast<int>(j)},
                         c);
            }
        }
    }
    if (groups.end < end) run_tiles(q, f, c, groups.end, end);
}

} // namespace sinter::cpu
