// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/product.hpp>
#include <sinter/kernel/cpu/vector_block.hpp>
#include <sinter/kernel/cpu/zeros.hpp>

/// The weights' gradient where what comes from behind is often exactly zero, as behind relu: those terms are skipped. For
/// each unit the examples whose gradient is not zero are gone over with lanes along the inputs, a block of which lies in
/// the first-level cache for all examples; the sums are transposed as they are finished. The terms are added in the same
/// order as by the tiles, so the result has the same bits. Where an input is not finite nothing is skipped: zero times
/// infinity is NaN.
namespace sinter::cpu {

inline constexpr std::int64_t sparse_examples = 512;     ///< at most
/// At most, over which a block of inputs stays in the cache; never less than one panel of the most examples.
inline constexpr int sparse_units = std::max(128, static_cast<int>(sparse_examples / mask_bits) * panel_width);
/// Of the gradients, the share that is not zero; 1 where the extents do not suit.
inline float gradient_share(const product& q) {
    const bool suits = q.depth >= 32 && q.depth <= sparse_examples && q.rows >= input_block / 2 && q.columns >= panel_width &&
                       q.rows * q.columns >= 8192;
    return suits ? non_zero_share(q.b, q.depth, q.columns, q.b_step) : 1.f;
}

/// c += d[][unit] times row i of x, for the lowest example i of the mask, which is then cleared.
SINTER_INLINE void add_lowest(vf (&c)[input_vectors], const float* x, const float* d, std::uint64_t& mask) {
    const std::int64_t i = __builtin_ctzll(mask);
    mask &= mask - 1;
    const vf a = splat(d[i * panel_width]);
    const float* row = x + i * input_block;
    unroll<input_vectors>([&](auto v) SINTER_ALWAYS { c[v] = fma(load(row + v * lanes), a, c[v]); });
}

/// Units that are gone over at once: as many as it takes until no sum waits for the one before it, if they fit into the registers.
inline constexpr int units_at_once = input_vectors < 8 && 2 * input_vectors + 4 <= registers ? 2 : 1;

/// to[unit][] (+)= the sum over the marked examples i < 64 of d[i][unit] x[i][].
__attribute__((noinline)) inline void add_marked_units(const float* x, const float* d, const std::uint64_t* mask, bool first,
                                                       float* to) {
    for (int u = 0; u < panel_width; u += units_at_once, to += units_at_once * input_block) {
        vf c[units_at_once][input_vectors];
        std::uint64_t m[units_at_once];
        unroll<units_at_once>([&](auto k) SINTER_ALWAYS {
            m[k] = mask[u + k];
            if (first) clear_block(c[k]);
            else load_block<input_vectors>(c[k], to + k * input_block, 0);
        });
        if constexpr (units_at_once == 2)
            while (m[0] && m[1]) {
                add_lowest(c[0], x, d + u, m[0]);
                add_lowest(c[1], x, d + u + 1, m[1]);
            }
        unroll<units_at_once>([&](auto k) SINTER_ALWAYS {
            while (m[k]) add_lowest(c[k], x, d + u + k, m[k]);
            store_block<input_vectors>(c[k], to + k * input_block, 0);
        });
    }
}

/// Copies n columns of rows [0, rows), zeros behind them; false if one is not finite.
__attribute__((noinline)) inline bool copy_inputs(const float* from, std::int64_t step, std::int64_t rows, std::int64_t n,
                                                  float* to) {
    vf finite = zero();
    for (std::int64_t i = 0; i < rows; ++i, from += step, to += input_block)
        for (int k = 0; k < input_block; k += lanes) {
            const vf x = n - k >= lanes ? load(from + k) : k < n ? load(from + k, static_cast<int>(n - k)) : zero();
            finite = fma(x, zero(), finite);
            store(to + k, x);
        }
    return sum_lanes(finite) == 0.f;
}

/// The tiles [tile, end), numbered as by run_tiles.
__attribute__((noinline)) inline void run_sparse_gradient(const product& q, const finisher& f, const call& c,
                                                          std::int64_t tile, std::int64_t end) {
    alignas(64) float x[mask_bits * input_block], d[mask_bits * sparse_units], sums[sparse_units * input_block];
    std::uint64_t mask[sparse_examples / mask_bits * sparse_units], all[panel_width];
    const std::int64_t chunks = (q.depth + mask_bits - 1) / mask_bits;
    const int panels = static_cast<int>(sparse_units / panel_width / (chunks > 1 ? chunks : 1)), most = panels > 1 ? panels : 1;
    const panel_groups groups(q, tile, end, 1);
    if (groups.first > tile) run_tiles(q, f, c, tile, groups.first);
    for (std::int64_t j0 = groups.column; j0 < groups.end_column; j0 += most * panel_width) {
        const std::int64_t n = (groups.end_column - j0) / panel_width < most ? (groups.end_column - j0) / panel_width : most;
        for (std::int64_t g = 0; g < chunks * n; ++g) {   // chunk by chunk, panel by panel
            const std::int64_t i0 = g / n * mask_bits, rows = q.depth - i0 < mask_bits ? q.depth - i0 : mask_bits;
            const float* from = q.b + i0 * q.b_step + j0 + g % n * panel_width;
            for (int v = 0; v < panel_width; v += lanes) {
                for (std::int64_t i = 0; i < rows; ++i)
                    store(d + (g * mask_bits + i) * panel_width + v, load(from + i * q.b_step + v));
                column_masks(from + v, q.b_step, rows, mask + g * panel_width + v);
            }
        }
        for (std::int64_t k = 0; k < q.rows; k += input_block) {
            const std::int64_t inputs = q.rows - k < input_block ? q.rows - k : input_block;
            for (std::int64_t h = 0; h < chunks; ++h) {
                const std::int64_t rows = q.depth - h * mask_bits < mask_bits ? q.depth - h * mask_bits : mask_bits;
                const bool finite = copy_inputs(q.a + h * mask_bits * q.sum_step + k, q.sum_step, rows, inputs, x);
                if (!finite) std::fill_n(all, panel_width, first_bits(rows));
                for (std::int64_t p = 0; p < n; ++p) {
                    const std::int64_t g = h * n + p;
                    float* const to = sums + (chunks > 1 ? p * panel_width * input_block : 0);
                    const std::int64_t j = j0 + p * panel_width;
                    const finished done{to, static_cast<int>(inputs), panel_width, input_block,
                                        q.off + j * q.rows + k * panel_width, panel_width, q.row + k,
                                        q.col + static_cast<int>(j)};
                    if (h + 1 == chunks && f.expect) f.expect(done, c);
                    const std::uint64_t* const marked = finite ? mask + g * panel_width : all;
                    add_marked_units(x, d + g * mask_bits * panel_width, marked, h == 0, to);
                    if (h + 1 == chunks) f.columns(done, c);
                }
            }
        }
    }
    if (groups.end < end) run_tiles(q, f, c, groups.end, end);
}

} // namespace sinter::cpu
