// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/product/product_limits.hpp>

/// Tiles of transposed products that copy what they read, and what the loops around them share.
namespace sinter::cpu {

/// Floats of the left operand, and of sums that go on in the next piece of the depth: they share the second-level cache, which is a
/// megabyte where vectors have 512 bits. Tiles are larger there, too.
inline constexpr std::int64_t copied_floats = lanes >= 16 ? 81920 : 40960, continued_floats = copied_floats;
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

/// Of so many rows a line each, that the turns of a tile's loop ask for.
struct asked_rows {
    const float* at;
    std::int64_t step, rows;
    asked_rows part(std::int64_t i, std::int64_t of) const {
        const std::int64_t first = rows * i / of;
        return {at + first * step, step, rows * (i + 1) / of - first};
    }
};

/// As multiply_tile<MR, 2> of a copied tile and panel, asking for lines all the time, of no more rows than there are turns.
template <int MR>
__attribute__((noinline)) void multiply_tile_asking_rows(const float* from, float* to, const float* x, const float* b, std::int64_t n,
                                                         asked_rows a) {
    const std::int64_t share = (a.rows << 16) / n;   // of a row, for each turn: without branches, which would be guessed wrong
    std::int64_t row = 0;
    vf c[MR * 2];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    accumulate<MR, 2>(c, x, 1, MR, b, panel_width, n, [&]() SINTER_ALWAYS {
        __builtin_prefetch(a.at + (row >> 16) * a.step, 0, 2);
        row += share;
    });
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}

/// The left operand's rows of the next piece of the depth: so many lines of each. All but the first panel's tiles share them, and a panel's
/// tiles the lines of the panel that follows; else memory would be read for the short time only in which something is copied.
struct next_piece {
    const float* at;
    std::int64_t step, lines, rows;

    /// What tile k of `tiles` of panel p of `panels` asks for.
    asked_rows share(std::int64_t p, std::int64_t panels, std::int64_t k, std::int64_t tiles, const asked_rows& panel) const {
        constexpr std::int64_t panel_lines = (panel_width + floats_a_line - 1) / floats_a_line;
        const std::int64_t first = lines * p / panels, own = panel.rows ? panel_lines : 0, all = own + lines * (p + 1) / panels - first;
        const std::int64_t calls = all ? tiles / all : 0, line = calls ? k / calls : all;
        if (line >= all) return {no_sum, 0, 0};
        const asked_rows whole = line < own ? asked_rows{panel.at + line * floats_a_line, panel.step, panel.rows}
                                            : asked_rows{at + (first + line - own) * floats_a_line, step, rows};
        return whole.part(k % calls, calls);
    }
};
/// Does that pay? Where vectors have 512 bits copies fill the second-level cache.
inline constexpr bool asks_pieces = lanes < 16;

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
