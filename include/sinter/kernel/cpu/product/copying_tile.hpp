// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/product_limits.hpp>

/// Tiles of transposed products that copy what they read, and what the loops around them share.
namespace sinter::cpu {

/// Floats of the left operand, and of sums that go on in the next piece of the depth: they share the second-level cache, which is a
/// megabyte where vectors have 512 bits. Tiles are larger there, too.
inline constexpr std::int64_t copied_floats = lanes >= 16 ? 81920 : 40960, continued_floats = lanes >= 16 ? 81920 : 20480;
/// Rows of the depth that are copied at once.
inline constexpr std::int64_t copied_rows = lanes >= 16 ? 256 : gathered_floats / 2 / panel_width;
/// Rows ahead of a copy that are asked for.
inline constexpr std::int64_t copied_ahead = 32;

/// As multiply_tile<MR, 2>, where the left operand's MR floats of a turn lie side by side; what is read of it (Left) or of the right
/// one (Right) is copied meanwhile, as [n][MR] and [n][panel_width]. Copies hide behind the sums: stores have nothing else to do there.
template <int MR, bool Left, bool Right>
__attribute__((noinline)) void multiply_tile_copying(const float* from, float* to, const float* x, std::int64_t x_step, const float* b,
                                                     std::int64_t b_step, std::int64_t n, float* x_copy, float* b_copy) {
    vf c[MR * 2];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    do {
        vf v[2];
        unroll<2>([&](int j) SINTER_ALWAYS {
            v[j] = load(b + j * lanes);
            pin(v[j]);
            if constexpr (Right) store(b_copy + j * lanes, v[j]);
        });
        if constexpr (Right)
            for (int j = 0; j < panel_width; j += floats_a_line) __builtin_prefetch(b + copied_ahead * b_step + j, 0, 2);
        if constexpr (Left) {
            __builtin_prefetch(x + copied_ahead * x_step, 0, 2);
            __builtin_prefetch(x + copied_ahead * x_step + MR - 1, 0, 2);
            for (int i = 0; i < MR; i += lanes)   // what is too much is written over
                store(x_copy + i, MR - i < lanes ? load(x + i, MR - i) : load(x + i));
        }
        unroll<MR>([&](int i) SINTER_ALWAYS {
            const vf a = splat(x[i]);
            unroll<2>([&](int j) SINTER_ALWAYS { c[i * 2 + j] = fma(a, v[j], c[i * 2 + j]); });
        });
        x += x_step;
        b += b_step;
        x_copy += MR;
        b_copy += panel_width;
    } while (--n > 0);
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}
using copying_function = decltype(&multiply_tile_copying<tile_rows, true, true>);
template <bool Left, bool Right>
copying_function copying_tile_of(int height) {
    return height == tile_rows ? multiply_tile_copying<tile_rows, Left, Right> : multiply_tile_copying<small_tile_rows, Left, Right>;
}

/// Of a product the tiles [first_tile, end_tile) of the panels [first_panel, end_panel).
struct tile_range {
    std::int64_t first_tile, end_tile, first_panel, end_panel;
};

/// to (+)= the sums of the first `there` columns of panel[n][w].
template <class = void>
__attribute__((noinline)) inline void sum_panel(const float* panel, int w, int there, std::int64_t n, float* to, bool begins) {
    constexpr int chains = 4;
    for (int j = 0; j < there; j += lanes) {
        vf s[chains];
        unroll<chains>([&](int k) SINTER_ALWAYS { s[k] = zero(); });
        std::int64_t i = 0;
        for (; i + chains <= n; i += chains) unroll<chains>([&](int k) SINTER_ALWAYS { s[k] += load(panel + (i + k) * w + j); });
        for (; i < n; ++i) s[0] += load(panel + i * w + j);
        const int count = there - j < lanes ? there - j : lanes;
        const vf sum = (s[0] + s[1]) + (s[2] + s[3]);
        store(to + j, begins ? sum : load(to + j, count) + sum, count);
    }
}

} // namespace sinter::cpu
