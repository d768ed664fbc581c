// SPDX-License-Identifier: BSL-1.0
#pragma once
// only where: defined(__AVX512BF16__)
#include <algorithm>

#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/bf16/unit_product.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/internal/bfloat16_products.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Packed [K][N] to packed pairs of rows [(K + 1) / 2][N], the one operand to the result.
struct bfloat16_weights {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const std::int64_t K = c.e[weight_pairs_extent::rows], N = c.e[weight_pairs_extent::columns];
        const std::int64_t panels = (N + panel_width - 1) / panel_width;
        const std::int64_t end = share(panels, c.part + 1, c.parts);
        for (std::int64_t p = share(panels, c.part, c.parts); p < end; ++p) {
            const int w = panel_columns(N, p, panel_width, lanes);
            pair_panel(c.p[copy_operand::from] + p * panel_width * K, w, K, w, w,
                       c.p[copy_operand::to] + p * panel_width * ((K + 1) / 2));
        }
    }
};

/// As gemm, with B as pairs; A is rounded into scratch space first.
template <class Body, class Unit = matrix_unit>
struct bfloat16_gemm {
    static constexpr std::int64_t depth(const std::int64_t* e) { return (e[gemm_extent::depth] + 1) / 2; }
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) {
        return Unit::exists ? unit_rows_floats(m, depth(e)) : m * pair_row_step(depth(e));
    }
    static void prepare(const call& c) {
        const std::int64_t step = pair_row_step(depth(c.e)), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i)
            pair_row(c.p[product_operand::a] + i * c.e[gemm_extent::row_step], c.e[gemm_extent::depth],
                     c.scratch + i * step);
    }
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        const std::int64_t n = depth(c.e);
        const pair_product q{c.scratch, pair_row_step(n), 0, c.p[product_operand::b], n * panel_width, c.m,
                             c.e[gemm_extent::columns], n, false};
        if constexpr (Unit::exists)
            if (takes<Unit>(c.m)) return run_unit<Unit>(q, f, c);
        run_pairs(q, f, c);
    }
};

/// As gemm_tn; both operands are rounded into scratch space first: the left one as tiles, or as
/// rows for a matrix unit, then the right one as panels.
template <class Body, class Unit = matrix_unit>
struct bfloat16_gemm_tn {
    static constexpr packed_operands places(const std::int64_t* e, std::int64_t m) {
        return {e[gemm_tn_extent::rows], e[gemm_tn_extent::columns], (m + 1) / 2};
    }
    static constexpr std::int64_t left_floats(const std::int64_t* e, std::int64_t m) {
        const std::int64_t tiles = places(e, m).tile_floats();
        return Unit::exists ? std::max(tiles, unit_rows_floats(e[gemm_tn_extent::rows], (m + 1) / 2)) : tiles;
    }
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) {
        return left_floats(e, m) + places(e, m).panel_floats();
    }
    static void prepare(const call& c) {
        const packed_operands o = places(c.e, c.m);
        const std::int64_t K = c.e[gemm_tn_extent::rows], N = c.e[gemm_tn_extent::columns];
        const auto part_of = [&](std::int64_t n, int more) { return share(n, c.part + more, c.parts); };
        if (takes<Unit>(K)) {
            const std::int64_t groups = (K + lanes - 1) / lanes;
            transpose_into_pairs(c.p[gemm_tn_operand::a], c.m, K, part_of(groups, 0), part_of(groups, 1), c.scratch,
                                 pair_row_step((c.m + 1) / 2));
        } else {
            const std::int64_t tile = part_of(o.tiles, 0);
            pair_tiles(c.p[gemm_tn_operand::a], K, c.m, tile, part_of(o.tiles, 1), c.scratch + tile * o.tile_step,
                       o.tile_step);
        }
        float* const panels = c.scratch + left_floats(c.e, c.m);
        for (std::int64_t p = part_of(o.panels, 0); p < part_of(o.panels, 1); ++p) {
            const int w = panel_columns(N, p, panel_width, lanes);
            const std::int64_t j0 = p * panel_width;
            pair_panel(c.p[gemm_tn_operand::d] + j0, N, c.m, w, static_cast<int>(N - j0 < w ? N - j0 : w),
                       panels + p * o.panel_step);
        }
    }
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        const packed_operands o = places(c.e, c.m);
        const std::int64_t depth = (c.m + 1) / 2;
        pair_product q{c.scratch, 0, o.tile_step, c.scratch + left_floats(c.e, c.m), o.panel_step,
                       c.e[gemm_tn_extent::rows], c.e[gemm_tn_extent::columns], depth, true};
        if constexpr (Unit::exists)
            if (takes<Unit>(q.rows)) {
                q.row_step = pair_row_step(depth);
                return run_unit<Unit>(q, f, c);
            }
        run_pairs(q, f, c);
    }
};

template <class Body, int... X>
struct nest<op::bfloat16_weights, Body, X...> { using type = bfloat16_weights; };
template <class Body, int... X>
struct nest<op::bfloat16_gemm, Body, X...> { using type = bfloat16_gemm<Body>; };
template <class Body, int... X>
struct nest<op::bfloat16_gemm_tn, Body, X...> { using type = bfloat16_gemm_tn<Body>; };

} // namespace sinter::cpu
