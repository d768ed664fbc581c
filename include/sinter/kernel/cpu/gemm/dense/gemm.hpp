// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/pipelined_epilogue.hpp>
#include <sinter/kernel/cpu/gemm/dense/gemm_row.hpp>
#include <sinter/kernel/cpu/gemm/small/narrow_product.hpp>
#include <sinter/kernel/cpu/gemm/run_blocks.hpp>
#include <sinter/kernel/cpu/gemm/run_rows.hpp>
#include <sinter/kernel/cpu/gemm/run_share.hpp>
#include <sinter/kernel/cpu/gemm/small/run_small_product.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_left.hpp>
#include <sinter/kernel/cpu/gemm/dense/transposed_weights.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Y[m][N] = A[m][K] * B, the product of a layer's forward pass and, with packed transposed
/// weights, of its dX. A is row-major, B packed [K][N] or, if transposed, packed [N][K].
/// begins_with_zeros: A is zero in its loop's first iteration. by_rows: parts have some rows each,
/// where there are enough. c.m = m >= 1. The body's off is row * N + col. The bits of a row do not
/// depend on the other rows. Zeros of A are skipped where they are many, unless B is transposed. Of
/// the loops that only some extents lead to, those of `Cases` are compiled (kernel_table.hpp).
template <class Body, int Cases = -1>
struct gemm {
    static constexpr bool only_divides = true;
    static constexpr int begins_with_zeros = 1, narrow = 2, skips_zeros = 4, small = 8, ragged = 16, follows = 32,
                         transposes = 64;
    static constexpr int loops = 7;   ///< bits from there on say for how many columns there are narrow loops
    template <int C>
    using only = gemm<Body, C>;
    static constexpr int cases(const std::int64_t* e, std::int64_t most_rows) {
        const std::int64_t K = e[gemm_extent::depth], N = e[gemm_extent::columns];
        const bool transposed = e[gemm_extent::transposed];
        const product q{nullptr, e[gemm_extent::row_step], 1, nullptr, 0, right::panels, most_rows, N, K, false, 0, 0};
        return (e[gemm_extent::begins_with_zeros] ? begins_with_zeros : 0) |
               (!transposed && is_narrow_product(q) ? narrow | 1 << narrow_loop(q.columns) << loops : 0) |
               (!transposed && suits_sparse_left(q) ? skips_zeros : 0) | (is_small_product(q) ? small : 0) |
               (N % lanes ? ragged : 0) | (follows_well<Body>() && !transposed && suits_pipelining(q) ? follows : 0) |
               (transposed && suits_transposed_weights(q) ? transposes : 0);
    }
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body, false, (Cases & small) != 0, (Cases & ragged) == 0, true>();
        const bool transposed = c.e[gemm_extent::transposed];
        const product all{c.p[product_operand::a], c.e[gemm_extent::row_step], 1, c.p[product_operand::b], 0,
                          transposed ? right::transposed_panels : right::panels, c.m, c.e[gemm_extent::columns],
                          c.e[gemm_extent::depth], false, 0, 0};
        product q = all;   // by any number of rows, as parts may have
        q.by_rows = c.e[gemm_extent::by_rows] && c.m >= c.parts * tile_rows;
        if constexpr (Cases & begins_with_zeros)
            if (c.first_iteration && c.e[gemm_extent::begins_with_zeros]) return run_share(q, f, c, finish_zeros);
        if constexpr (Cases & transposes)
            if (transposed && suits_transposed_weights(all) && fills_lanes(all))
                return run_transposed_weights(all, f, c);
        if (transposed) return run_share(all, f, c, run_any_tiles);   // by rows each part would transpose all weights
        if (all.rows < small_tile_rows) return run_rows(all, f, c, c.part, c.parts);
        if constexpr (Cases & narrow)
            if (is_narrow_product(all))
                return run_share(all, f, c, run_narrow_product<(Cases >> loops) & all_narrow_loops>);
        if (is_done(f, c)) return;   // before zeros are looked for
        if constexpr (Cases & skips_zeros)
            if (is_sparse_left(q)) return run_share(q, f, c, run_sparse_left);
        if constexpr (Cases & small)
            if (is_small_product(all)) return run_share(all, f, c, run_small_product);
        if constexpr (follows_well<Body>() && (Cases & follows) != 0)
            if (suits_pipelining(q)) return run_pipelined_share<Body>(q, f, c);
        run_share(q, f, c, run_blocks);
    }
};

template <class Body, int K, int N, int... X>
struct nest<op::gemm, Body, K, N, X...> { using type = gemm_row<Body, K, N>; };
template <class Body, int... X>
struct nest<op::gemm, Body, 0, 0, X...> { using type = gemm<Body>; };

} // namespace sinter::cpu
