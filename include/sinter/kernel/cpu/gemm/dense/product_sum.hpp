// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/product_limits.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/gemm/run_share.hpp>
#include <sinter/kernel/cpu/gemm/tile_of_height.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/internal/product_sum.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The tiles [tile, end) of a sum of products, whose operands are those of one after those of
/// another: q is the first. All products' tiles of one panel of columns follow each other, each
/// from the sums that the product before has left.
template <class = void>
__attribute__((noinline)) inline void run_product_sum(const product& q, const epilogue& f, const call& c,
                                                      std::int64_t tile, std::int64_t end) {
    constexpr std::int64_t piece = streamed_floats / panel_width;
    alignas(64) float carried[carried_tiles * tile_rows * panel_width];
    const row_cover cover(q.rows);
    const int rest_height = cover.height(cover.large);
    const bool prefetches_epilogue = f.prefetch && q.rows * q.columns > near_floats, ahead = cover.count <= panel_width;
    const std::int64_t ahead_step =
        (panel_width + cover.count - 1) / cover.count;   // the panel's tiles share the next one's lines
    const std::int64_t mine = thread_end(c, tiles_of(q, cover));
    while (tile < end) {
        const std::int64_t p = tile / cover.count, first = tile % cover.count, j0 = p * panel_width;
        const int w = panel_columns(q.columns, p, panel_width, lanes);
        const bool wide = w == panel_width;
        std::int64_t group = cover.count - first < end - tile ? cover.count - first : end - tile;
        if (group > carried_tiles) group = carried_tiles;
        finished done = panel_results(q, j0, w, static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w));
        const std::int64_t panel_off = done.off;
        const std::int64_t products = c.e[product_sum_extent::products];
        for (int k = 0; k < products; ++k) {
            const bool last_one = k + 1 == products;
            const std::int64_t next_j0 = last_one ? j0 + panel_width : j0;
            const bool prefetches =
                wide && ahead && next_j0 + panel_width <= q.columns && (!last_one || (p + 1) * cover.count < mine);
            const float* const next =
                prefetches
                    ? c.p[(last_one ? 0 : k + 1) * product_operand::number + product_operand::b] + next_j0 * q.depth
                    : nullptr;
            for (std::int64_t t = 0; t < q.depth; t += piece) {
                const std::int64_t n = q.depth - t < piece ? q.depth - t : piece;
                const bool last = last_one && t + n == q.depth;
                const float* const b = c.p[k * product_operand::number + product_operand::b] + j0 * q.depth + t * w;
                float* sums = carried;
                for (std::int64_t i = first; i < first + group; ++i, sums += tile_rows * panel_width) {
                    const bool is_large = i < cover.large;
                    const int height = is_large ? tile_rows : rest_height;
                    const float *const x = c.p[k * product_operand::number + product_operand::a] +
                                           cover.first_row(i) * q.row_step + t,
                                       *const from = k + t ? sums : no_sum;
                    place_tile(done, q, cover, i, sums, panel_off);
                    if (last && prefetches_epilogue) f.prefetch(done, c);
                    if (next && i * ahead_step < panel_width && height > 1) {
                        const ahead_function sum = ahead_of_panel(is_large, ahead_step, ahead_step > floats_a_line);
                        sum(from, sums, x, q.row_step, 1, b, w, n,
                            {next + i * ahead_step * q.depth + t * ahead_step, ahead_step});
                    } else {
                        (wide ? tile_of<2>(height) : tile_of<1>(height))(from, sums, x, q.row_step, 1, b, w, n, 1);
                    }
                    if (last) f.finish(done, c);
                }
            }
        }
        tile += group;
    }
}

/// Y[m][N] = the sum of A[m][K] * B over some pairs, operands {A, B, A, B, ...}, as gemm has them.
/// c.m = m >= 1. The body's off is row * N + col. The bits of a row do not depend on the other
/// rows.
template <class Body>
struct product_sum {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        const std::int64_t depth = c.e[product_sum_extent::depth], columns = c.e[product_sum_extent::columns];
        run_share({c.p[product_operand::a], depth, 1, c.p[product_operand::b], 0, right::panels, c.m, columns, depth,
                   false, 0, 0},
                  f, c, run_product_sum);
    }
};

template <class Body, int... X>
struct nest<op::product_sum, Body, X...> { using type = product_sum<Body>; };

} // namespace sinter::cpu
