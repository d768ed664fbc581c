// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product_limits.hpp>

/// Tiles of transposed products that copy what they read, and what the loops around them share.
namespace sinter::inline SINTER_TARGET::cpu {

/// Floats of the left operand, and of sums that go on in the next piece of the depth: they share
/// the second-level cache, which is a megabyte where vectors have 512 bits. Tiles are larger there,
/// too.
inline constexpr std::int64_t copied_floats = lanes >= 16 ? 81920 : 40960, continued_floats = copied_floats;
/// Rows of the depth that are copied at once: as many, or, of a depth that is hardly larger, all,
/// for sums that go on cost more than a panel that fills most of the first-level cache.
inline constexpr std::int64_t copied_rows = lanes >= 16 ? 256 : gathered_floats / 2 / panel_width;
inline constexpr std::int64_t most_copied_rows = lanes >= 16 ? copied_rows : copied_rows + copied_rows / 2;
/// How many of `all` make a group, where groups are of `most` or fewer and alike.
constexpr std::int64_t groups_alike(std::int64_t all, std::int64_t most) {
    const std::int64_t groups = (all + most - 1) / most;
    return (all + groups - 1) / groups;
}
/// Do tiles prefetch what others will copy? Where vectors have 512 bits copies fill the
/// second-level cache.
inline constexpr bool prefetches_pieces = lanes < 16;
/// Rows of a piece of a given depth.
constexpr std::int64_t rows_of_piece(std::int64_t depth) {
    return depth <= most_copied_rows ? depth : prefetches_pieces ? groups_alike(depth, copied_rows) : copied_rows;
}
/// Where in a line's length of a panel's row it is prefetched: at the end, for rows may begin
/// within a line, which the panel before has prefetched then.
inline constexpr std::int64_t end_of_line =
    prefetches_pieces ? (panel_width < floats_a_line ? panel_width : floats_a_line) - 1 : 0;
/// Rows ahead of a copy that are prefetched, unless tiles before prefetched them: then that would
/// only keep its loads waiting.
inline constexpr std::int64_t copied_ahead = 32;

/// As multiply_tile<MR, 2>, where the left operand's MR floats of an iteration lie side by side;
/// what is read of it (Left) or of the right one (Right) is copied meanwhile, as [n][MR] and
/// [n][panel_width]. Copies hide behind the sums: stores have nothing else to do there. So many
/// rows ahead are prefetched of either (of none if zero and `prefetches_pieces`).
template <int MR, bool Left, bool Right>
__attribute__((noinline)) void multiply_tile_packing(const float* from, float* to, const float* x, std::int64_t x_step,
                                                     const float* b, std::int64_t b_step, std::int64_t n, float* x_copy,
                                                     float* b_copy, std::int64_t x_ahead, std::int64_t b_ahead) {
    const std::int64_t x_next = x_ahead * x_step, b_next = b_ahead * b_step;
    vf c[std::size_t{MR * 2}];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    do {
        vf v[2];
        unroll<2>([&](int j) SINTER_ALWAYS {
            v[j] = load(b + j * lanes);
            pin(v[j]);
            if constexpr (Right) store(b_copy + j * lanes, v[j]);
        });
        if (Right && (!prefetches_pieces || b_ahead))
            for (int j = 0; j < panel_width; j += floats_a_line) __builtin_prefetch(b + b_next + j + end_of_line, 0, 2);
        if constexpr (Left) {
            if (!prefetches_pieces || x_ahead) {
                __builtin_prefetch(x + x_next, 0, 2);
                __builtin_prefetch(x + x_next + MR - 1, 0, 2);
            }
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
using packing_function = decltype(&multiply_tile_packing<tile_rows, true, true>);
template <bool Left, bool Right>
packing_function packing_tile_of(int height) {
    return height == tile_rows ? multiply_tile_packing<tile_rows, Left, Right>
                               : multiply_tile_packing<small_tile_rows, Left, Right>;
}

/// Of rows `step` apart a line each, that the iterations of a tile's loop prefetch: of so many rows
/// an iteration, in 65536ths.
struct prefetched_rows {
    const float* at;
    std::int64_t step, per_iteration;
};

/// As multiply_tile<MR, 2> of a copied tile and panel, prefetching lines all the time, of one row
/// in so many iterations at most.
template <int MR, int Unroll>
__attribute__((noinline)) void multiply_tile_prefetching_rows(const float* from, float* to, const float* x,
                                                              const float* b, std::int64_t n, prefetched_rows a) {
    std::int64_t row = 0;   // counted without branches, which would be guessed wrong
    vf c[std::size_t{MR * 2}];
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { c[i] = load(from + i * lanes); });
    accumulate<MR, 2, Unroll>(c, x, 1, MR, b, panel_width, n, [&]() SINTER_ALWAYS {
        __builtin_prefetch(a.at + (row >> 16) * a.step, 0, 2);
        row += a.per_iteration * Unroll;
    });
    unroll<MR * 2>([&](int i) SINTER_ALWAYS { store(to + i * lanes, c[i]); });
}
template <int MR>
decltype(&multiply_tile_prefetching_rows<MR, 1>) prefetching_tile_of(const prefetched_rows& a) {
    return a.per_iteration * iterations_at_once > 1 << 16 ? multiply_tile_prefetching_rows<MR, 1>
                                                          : multiply_tile_prefetching_rows<MR, iterations_at_once>;
}

/// Some lines of each of so many rows.
struct row_lines {
    const float* at;
    std::int64_t step, rows, lines;
};

/// What a panel's tiles prefetch, one after the other: the lines of the panel that follows and a
/// share of the next piece's rows of the left operand; else memory would be read for the short time
/// only in which something is copied. Divides once for all tiles.
class panel_prefetches {
public:
    panel_prefetches() = default;
    /// `tiles` of `iterations` each, of no fewer iterations than there are rows.
    panel_prefetches(row_lines first, row_lines then, std::int64_t tiles, std::int64_t iterations)
        : lines_{first, then} {
        const std::int64_t all = first.lines + then.lines, a_line = all ? tiles / all : 0;
        for (int i = 0; i < 2 && a_line; ++i) {
            rows_[i] = (lines_[i].rows + a_line - 1) / a_line;
            per_iteration_[i] = (rows_[i] << 16) / iterations;
        }
        if (!a_line) now_ = 2;
    }
    prefetched_rows next() {
        while (now_ < 2 && line_ == lines_[now_].lines) line_ = 0, ++now_;
        if (now_ == 2) return {no_sum, 0, 0};
        const row_lines& l = lines_[now_];
        const prefetched_rows r{l.at + line_ * floats_a_line + row_ * l.step, l.step, per_iteration_[now_]};
        row_ += rows_[now_];
        if (row_ >= l.rows) row_ = 0, ++line_;
        return r;
    }

private:
    row_lines lines_[2] = {};
    std::int64_t rows_[2] = {}, per_iteration_[2] = {}, line_ = 0, row_ = 0;   ///< rows: for a tile
    int now_ = 0;
};

/// Of a product the tiles [first_tile, end_tile) of the panels [first_panel, end_panel).
struct tile_range {
    std::int64_t first_tile, end_tile, first_panel, end_panel;
};

/// to (+)= the sums of the first `there` columns of panel[n][w].
template <class = void>
__attribute__((noinline)) inline void sum_panel(const float* panel, int w, int there, std::int64_t n, float* to,
                                                bool begins) {
    constexpr int chains = 4;
    for (int j = 0; j < there; j += lanes) {
        vf s[chains];
        unroll<chains>([&](int k) SINTER_ALWAYS { s[k] = zero(); });
        std::int64_t i = 0;
        for (; i + chains <= n; i += chains)
            unroll<chains>([&](int k) SINTER_ALWAYS { s[k] += load(panel + (i + k) * w + j); });
        for (; i < n; ++i) s[0] += load(panel + i * w + j);
        const int count = there - j < lanes ? there - j : lanes;
        const vf sum = (s[0] + s[1]) + (s[2] + s[3]);
        store(to + j, begins ? sum : load(to + j, count) + sum, count);
    }
}

} // namespace sinter::cpu
