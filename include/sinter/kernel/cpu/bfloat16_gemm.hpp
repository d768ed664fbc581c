// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/finish.hpp>
#include <sinter/kernel/cpu/nest.hpp>
#include <sinter/kernel/cpu/pair_product.hpp>
#include <sinter/ops/detail/bfloat16_products.hpp>

namespace sinter::cpu {

/// Packed [K][N] to packed pairs of rows [(K + 1) / 2][N]. p[0] to p[1]; e = {K, N}.
struct bfloat16_weights {
    static constexpr bool only_divides = true;
    static void run(const call& c) {
        const std::int64_t K = c.e[0], N = c.e[1], panels = (N + panel_width - 1) / panel_width;
        const std::int64_t end = share(panels, c.part + 1, c.parts);
        for (std::int64_t p = share(panels, c.part, c.parts); p < end; ++p) {
            const int w = panel_columns(N, p, panel_width, lanes);
            pair_panel(c.p[0] + p * panel_width * K, w, K, w, w, c.p[1] + p * panel_width * ((K + 1) / 2));
        }
    }
};

/// As gemm, with B as pairs; A is rounded into scratch space first.
template <class Body>
struct bfloat16_gemm {
    /// From row to row of the rounded A: not a power of two, after which rows would share few places in a cache.
    static constexpr std::int64_t row_pairs(std::int64_t K) { return round_up((K + 1) / 2, 16) + 16; }
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) { return m * row_pairs(e[0]); }
    static void prepare(const call& c) {
        const std::int64_t step = row_pairs(c.e[0]), end = share(c.m, c.part + 1, c.parts);
        for (std::int64_t i = share(c.m, c.part, c.parts); i < end; ++i)
            pair_row(c.p[0] + i * c.e[2], c.e[0], c.scratch + i * step);
    }
    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        const std::int64_t depth = (c.e[0] + 1) / 2;
        run_pairs({c.scratch, row_pairs(c.e[0]), 0, c.p[1], depth * panel_width, c.m, c.e[1], depth, false}, f, c);
    }
};

/// As gemm_tn; both operands are rounded into scratch space first.
template <class Body>
struct bfloat16_gemm_tn {
    static constexpr packed_operands places(const std::int64_t* e, std::int64_t m) { return {e[0], e[1], (m + 1) / 2}; }
    static constexpr std::int64_t scratch(const std::int64_t* e, int, std::int64_t m) {
        return places(e, m).tile_floats() + places(e, m).panel_floats();   // tiles, then panels
    }
    static float* tile(const packed_operands& o, const call& c, std::int64_t i) { return c.scratch + i * o.tile_step; }
    static float* panel(const packed_operands& o, const call& c, std::int64_t p) {
        return c.scratch + o.tile_floats() + p * o.panel_step;
    }
    static void prepare(const call& c) {
        const packed_operands o = places(c.e, c.m);
        const std::int64_t K = c.e[0], N = c.e[1], tile = share(o.tiles, c.part, c.parts);
        const std::int64_t end = share(o.panels, c.part + 1, c.parts);
        pair_tiles(c.p[0], K, c.m, tile, share(o.tiles, c.part + 1, c.parts), bfloat16_gemm_tn::tile(o, c, tile), o.tile_step);
        for (std::int64_t p = share(o.panels, c.part, c.parts); p < end; ++p) {
            const int w = panel_columns(N, p, panel_width, lanes);
            const std::int64_t j0 = p * panel_width;
            pair_panel(c.p[1] + j0, N, c.m, w, static_cast<int>(N - j0 < w ? N - j0 : w), panel(o, c, p));
        }
    }
    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        const packed_operands o = places(c.e, c.m);
        const float *tiles = tile(o, c, 0), *panels = panel(o, c, 0);
        run_pairs({tiles, 0, o.tile_step, panels, o.panel_step, c.e[0], c.e[1], (c.m + 1) / 2, true}, f, c);
    }
};

template <class Body, int... X>
struct nest<op::bfloat16_weights, Body, X...> { using type = bfloat16_weights; };
template <class Body, int... X>
struct nest<op::bfloat16_gemm, Body, X...> { using type = bfloat16_gemm<Body>; };
template <class Body, int... X>
struct nest<op::bfloat16_gemm_tn, Body, X...> { using type = bfloat16_gemm_tn<Body>; };

} // namespace sinter::cpu
