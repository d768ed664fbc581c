// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/spread_rows.hpp>
#include <sinter/kernel/cpu/gemm/transposed_product.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Y[b][M][N] = op(A[b]) op(B[b]) for c.m pairs of plain row-major matrices, as attention needs
/// them. A is [M][K], or [K][M] if TransA; B is [K][N], or [N][K] if TransB. With inner <= 1,
/// matrix b of A begins at b * a_step (0: all share one). Otherwise the batch has two levels, such
/// as batch x heads: a_group_step and b_group_step lie between groups of `inner` matrices, a_step
/// and b_step between those within a group; stride 0 broadcasts at either level. The body's off =
/// (b * M + i) * N + j, row = b * M + i. Of the loops that only some extents lead to, those of
/// `Cases` are compiled (kernel_table.hpp).
template <bool TransA, bool TransB, class Body, int Cases = -1>
struct matmul {
    static constexpr int copies = 1;
    template <int C>
    using only = matmul<TransA, TransB, Body, C>;
    static constexpr int cases(const std::int64_t* e, std::int64_t) {
        return TransA && e[matmul_extent::depth] >= least_copied_depth ? copies : 0;
    }
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        using enum matmul_extent::position;
        const std::int64_t M = c.e[rows], N = c.e[columns], K = c.e[depth], in_group = c.e[inner];
        product q{nullptr, TransA ? 1 : c.e[a_row_step], TransA ? c.e[a_row_step] : 1, nullptr, c.e[b_row_step],
                  TransB ? right::columns : right::rows, M, N, K, false, 0, 0};
        // Shares are of matrices while those suffice, so that each operand is gathered by one
        // thread only.
        const bool whole = c.m >= c.parts;
        const std::int64_t end = whole ? share(c.m, c.part + 1, c.parts) : c.m;
        for (std::int64_t b = whole ? share(c.m, c.part, c.parts) : 0; b < end; ++b) {
            const bool nested = in_group > 1;
            q.a = c.p[product_operand::a] + (nested ? b / in_group * c.e[a_group_step] + b % in_group * c.e[a_step] :
                                             b * c.e[a_step]);
            q.b = c.p[product_operand::b] + (nested ? b / in_group * c.e[b_group_step] + b % in_group * c.e[b_step] :
                                             b * c.e[b_step]);
            q.off = b * M * N;
            q.row = b * M;
            const int part = whole ? 0 : c.part, parts = whole ? 1 : c.parts;
            if constexpr (TransA && (Cases & copies))
                if (K >= least_copied_depth) {
                    run_transposed_product(q, f, c, part, part + 1, parts);
                    continue;
                }
            const std::int64_t tiles = tiles_of(q);
            run_any_tiles(q, f, c, share(tiles, part, parts), share(tiles, part + 1, parts));
        }
    }
};

template <class Body, int TA, int TB, int... X>
struct nest<op::matmul, Body, TA, TB, X...> { using type = matmul<(TA != 0), (TB != 0), Body>; };

} // namespace sinter::cpu
