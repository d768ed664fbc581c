// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/gemm/weight_gradient/few_rows.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/weight_gradient/narrow_gradient.hpp>
#include <sinter/kernel/cpu/gemm/run_share.hpp>
#include <sinter/kernel/cpu/gemm/small/run_small_product.hpp>
#include <sinter/kernel/cpu/gemm/run_tiles.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_gradient.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_inputs.hpp>
#include <sinter/kernel/cpu/gemm/transposed_product.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// dW[K][N] = sum over m rows of A[m][K]^T D[m][N], the gradient of a layer's weights. A and D are
/// row-major. zero_rows: rows of one example that are zero in A, so many first ones, or, negative,
/// last ones. c.m = m >= 1. The body's off is that of the packed [K][N] (panels.hpp), row = k, col
/// = j. It always gets whole vectors: in the padding columns acc is exactly zero. It sees every
/// element once, so it may hold the optimizer's update. Zeros of A or of D are skipped where they
/// are many. Deep sums copy both operands on the way (transposed_product.hpp). Of the loops that
/// only some extents lead to, those of `Cases` are compiled (kernel_table.hpp). `Sums`: the sum of
/// D's rows, [N], is a result as well.
template <class Body, int Cases = -1, bool Sums = false>
struct gemm_tn {
    static constexpr bool only_divides = true;
    static constexpr int narrow = 1, few = 2, skips_inputs = 4, skips_gradients = 8, copies = 16, small = 32;
    static constexpr int widths =
        6;   ///< bits from there on say of which widths blocks are where zeros of D are skipped
    template <int C>
    using only = gemm_tn<Body, C, Sums>;
    static constexpr int cases(const std::int64_t* e, std::int64_t most_rows) {
        const std::int64_t K = e[gemm_tn_extent::rows], N = e[gemm_tn_extent::columns];
        product q{nullptr, 1, K, nullptr, N, right::rows, K, N, most_rows, true, 0, 0};
        if (q.columns <= narrow_gradient) return narrow;
        int c = (has_few_rows(q) ? few : 0) | (packs(e, most_rows) ? copies : 0) | (is_small_product(q) ? small : 0);
        q.depth = std::min(most_rows, most_examples);
        if (suits_sparse_inputs(q)) c |= skips_inputs;
        q.depth = std::min(most_rows, sparse_examples);
        if (suits_sparse_gradient(q)) c |= skips_gradients | input_blocks(K).bit() << widths;
        return c;
    }
    static constexpr std::int64_t deep = 128, wide = 4 * panel_width;   ///< from where on that pays
    /// Of weights that lie in memory, with tiles of few rows, from fewer examples on, too: more
    /// than lie side by side in a cache's sets where they are a power of two apart.
    static constexpr std::int64_t deep_of_far = registers < 32 ? 9 : deep;

    static constexpr bool packs(const std::int64_t* e, std::int64_t m) {
        const std::int64_t K = e[gemm_tn_extent::rows], N = e[gemm_tn_extent::columns];
        return N >= wide && (m >= deep || (m >= deep_of_far && K >= wide && K * N > memory_floats));
    }
    static product product_of(const call& c) {
        const std::int64_t zeros = c.e[gemm_tn_extent::zero_rows] * c.batch, first = zeros > 0 ? zeros : 0;
        const std::int64_t rows = c.m - (zeros < 0 ? -zeros : zeros);
        if (rows < 1) return product_of(c, 0, c.m);
        return product_of(c, first, rows);
    }
    static product product_of(const call& c, std::int64_t first, std::int64_t rows) {
        const std::int64_t K = c.e[gemm_tn_extent::rows], N = c.e[gemm_tn_extent::columns];
        return {c.p[gemm_tn_operand::a] + first * K, 1, K, c.p[gemm_tn_operand::d] + first * N, N, right::rows, K, N,
                rows, true, 0, 0};
    }
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body, true, (Cases & small) != 0>();
        const product q = product_of(c);
        if constexpr (Sums) {
            if (packs(c.e, q.depth)) return run_copies(q, f, c, c.p[gemm_tn_operand::sum_of_d]);
            sum_rows(q, c);
        }
        if constexpr (Cases & narrow)
            if (q.columns <= narrow_gradient) return run_share(q, f, c, run_narrow_gradient);
        if constexpr (Cases & few)
            if (has_few_rows(q) && !packs(c.e, q.depth)) return run_share(q, f, c, run_few_rows);
        if (is_done(f, c)) return;   // before zeros are looked for
        const float behind = Cases & skips_gradients ? gradient_share(q) : 1.f,
                    before = Cases & skips_inputs ? input_share(q) : 1.f;
        if constexpr (Cases & skips_inputs)
            if (before < behind && before <= sparse_share) return run_share(q, f, c, run_sparse_inputs);
        if constexpr (Cases & skips_gradients)
            if (behind <= sparse_share)
                return run_share(q, f, c, run_sparse_gradient<(Cases >> widths) & input_blocks::all_bits>);
        if constexpr (Cases & small)
            if (is_small_product(q)) return run_share(q, f, c, run_small_product);
        if constexpr (Cases & copies)
            if (packs(c.e, q.depth)) return run_copies(q, f, c, nullptr);
        run_share(q, f, c, run_tiles);
    }
    static void run_copies(const product& q, const epilogue& f, const call& c, float* column_sums) {
        if (is_done(f, c)) return;
        run_transposed_product(q, f, c, c.part, does_all_parts(f, c) ? c.end : c.part + 1, c.parts, column_sums);
    }
    /// Of few rows, or few columns, apart from the product; this part's columns.
    static void sum_rows(const product& q, const call& c) {
        const std::int64_t end = share(q.columns, c.part + 1, c.parts);
        for (std::int64_t j = share(q.columns, c.part, c.parts); j < end; j += lanes) {
            const int n = end - j < lanes ? static_cast<int>(end - j) : lanes;
            vf s = zero();
            for (std::int64_t i = 0; i < q.depth; ++i) s += load(q.b + i * q.b_step + j, n);
            store(c.p[gemm_tn_operand::sum_of_d] + j, s, n);
        }
    }
};

template <class Body, int Sums, int... X>
struct nest<op::gemm_tn, Body, Sums, X...> { using type = gemm_tn<Body, -1, Sums != 0>; };

} // namespace sinter::cpu
