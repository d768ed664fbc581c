// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/row_cover.hpp>
#include <sinter/kernel/cpu/product/run_tiles.hpp>
#include <sinter/kernel/cpu/product/sparse_left.hpp>

/// The weights' gradient where the inputs are often exactly zero, as images are: those terms are skipped. For each input the
/// examples in which it is not zero are gone over, with lanes along the units, whose gradients lie in the first-level
/// cache for all examples. The terms are added in the same order as by the tiles, so the result has the same bits. Where a
/// gradient is not finite nothing is skipped: zero times infinity is NaN.
namespace sinter::cpu {

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

/// Some panels of the gradients from column j0 on, as [chunk of 64 examples][panel][64][]; false if one is not finite.
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

/// The tiles [tile, end), numbered as by run_tiles.
template <class = void>
__attribute__((noinline)) inline void run_sparse_inputs(const product& q, const finisher& f, const call& c, std::int64_t tile,
                                                        std::int64_t end) {
    alignas(64) float sums[sparse_panels * sparse_rows * panel_width], d[most_examples * sparse_panels * panel_width];
    std::uint64_t mask[sparse_inputs];
    const panel_groups groups = sparse_groups(q, tile, end, [&] { return input_share(q); });
    if (groups.first > tile) run_tiles(q, f, c, tile, groups.first);
    for (std::int64_t j0 = groups.column, width; j0 < groups.end_column; j0 += width) {
        const bool fewer = groups.end_column - j0 < sparse_panels * panel_width;
        const int panels = fewer ? fewer_panels : sparse_panels;
        width = panels * panel_width;
        const bool finite = copy_gradients(q, j0, panels, d);
        for (std::int64_t k = 0; k < q.rows; k += sparse_inputs) {
            const int n = static_cast<int>(q.rows - k < sparse_inputs ? q.rows - k : sparse_inputs);
            for (std::int64_t i = 0; i < q.depth; i += mask_bits) {
                const std::int64_t examples = q.depth - i < mask_bits ? q.depth - i : mask_bits;
                const float* x = q.a + i * q.sum_step + k;
                if (finite)
                    for (int l = 0; l < n; l += lanes) column_masks(x + l, q.sum_step, examples, mask + l);
                else
                    for (std::uint64_t& m : mask) m = first_bits(examples);
                const auto add = [&](auto panels) SINTER_ALWAYS {   // called by name, so that compilers see what is constant
                    add_marked_rows<panels, true>(x, 1, mask, 1, d + i * width, mask_bits * panel_width, n, sums, i == 0, q.sum_step);
                };
                if (fewer) add(std::integral_constant<int, fewer_panels>{});
                else add(std::integral_constant<int, sparse_panels>{});
            }
            for (int p = 0; p < panels; ++p) {
                const std::int64_t j = j0 + p * panel_width;
                f.finish({sums + p * sparse_rows * panel_width, n, panel_width, panel_width,
                          q.off + j * q.rows + k * panel_width, panel_width, q.row + k, q.col + static_cast<int>(j)}, c);
            }
        }
    }
    if (groups.end < end) run_tiles(q, f, c, groups.end, end);
}

} // namespace sinter::cpu
