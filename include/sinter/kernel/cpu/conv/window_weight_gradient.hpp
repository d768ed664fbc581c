// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/conv_sums.hpp>
#include <sinter/kernel/cpu/conv/window_panels.hpp>
#include <sinter/kernel/cpu/gemm/tile_of_height.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// A weight gradient's sums: the product of the windows, transposed, and the gradient, over a share
/// of pixels, rows or panels.
struct window_sums {
    static constexpr int block = 256;   ///< pixels at a time: a panel of the gradient stays in the first-level cache
    static constexpr int group = 16;   ///< tiles whose windows are copied at once: these stay in the second-level cache
    static constexpr int strip = 16;         ///< pixels whose windows are copied side by side
    /// From tile to tile of the copies; odd in cache lines, or the copies' streams would meet in
    /// the same sets.
    static constexpr std::int64_t tile_floats = round_up(block * tile_rows + lanes, 32) + 16;

    window_extents e;
    std::int64_t first_pixel, last_pixel;
    int first_row, last_row, first_panel, last_panel;

    /// The gradient's panel as [pixels][width], zeros behind the last channel.
    static void copy_panel(const float* from, int columns, int there, std::int64_t n, float* to, int width) {
        if (there == panel_width) {
            for (std::int64_t i = 0; i < n; ++i, from += columns, to += panel_width)
                store(to, load(from)), store(to + lanes, load(from + lanes));
            return;
        }
        for (std::int64_t i = 0; i < n; ++i, from += columns, to += width)
            for (int j = 0; j < width; j += lanes)
                store(to + j, there - j >= lanes ? load(from + j) : there > j ? load(from + j, there - j) : zero());
    }

    /// sums: packed [depth][CO], of which this share is set. Reads nothing of x from x_end on.
    template <class = void>
    __attribute__((noinline)) void run(const float* x, const float* x_end, const float* dy, float* sums) const {
        alignas(64) float panel[block * panel_width];
        alignas(64) float windows[group * tile_floats];
        window_strip strips[block];
        const std::int64_t pixels = last_pixel - first_pixel, blocks = (pixels + block - 1) / block;
        const int depth = e.depth();
        if (pixels == 0) return clear(sums);
        for (std::int64_t k = 0; k < blocks; ++k) {
            const std::int64_t first = first_pixel + pixels * k / blocks,
                               n = first_pixel + pixels * (k + 1) / blocks - first;
            const int n_strips = cut_strips(e, x, first, first + n, strip, strips);
            for (int row = first_row; row < last_row; row += group * tile_rows) {
                const int rows = std::min(last_row - row, group * tile_rows);
                copy_group(x_end, strips, n_strips, row, rows, windows);
                for (int p = first_panel; p < last_panel; ++p) {
                    const int width = panel_columns(e.CO, p, panel_width, lanes), j0 = p * panel_width;
                    const float* const from = dy + first * e.CO + j0;
                    copy_panel(from, e.CO, std::min(e.CO - j0, width), n, panel, width);
                    float* to = sums + std::int64_t{j0} * depth + static_cast<std::int64_t>(row) * width;
                    std::int64_t next = p + 1 < last_panel ? 0 : n;   // line of the next panel to be prefetched
                    for (int r = 0; r < rows; r += tile_rows, to += tile_rows * width) {
                        for (const std::int64_t last = std::min(n, next + block / group); next < last; ++next)
                            __builtin_prefetch(from + next * e.CO + panel_width);
                        tile(windows + r / tile_rows * tile_floats, std::min(tile_rows, rows - r), panel, width, n,
                             k == 0, to);
                    }
                }
            }
        }
    }

private:
    static int height(int rows) { return rows > small_tile_rows ? tile_rows : small_tile_rows; }

    /// The windows of a group of tiles, each as [pixels][height]: strip by strip, so that the
    /// images' lines are read once.
    void copy_group(const float* x_end, const window_strip* strips, int n_strips, int row, int rows,
                    float* windows) const {
        std::int64_t at[group] = {};
        for (int s = 0; s < n_strips; ++s) {
            window_rows w(e, row, tile_rows);
            for (int t = 0; t * tile_rows < rows; ++t) {
                w.rows = std::min(tile_rows, rows - t * tile_rows);
                copy_windows(e, strips[s], w, x_end, windows + t * tile_floats + at[t], height(w.rows));
                at[t] += strips[s].count * height(w.rows);
                for (w.at += tile_rows; w.at >= w.line; w.at -= w.line) ++w.ky;
            }
        }
    }
    template <class = void>
    static void tile(const float* windows, int rows, const float* panel, int width, std::int64_t n, bool first,
                     float* to) {
        const bool wide = width == panel_width;
        const tile_function large = wide ? multiply_tile<tile_rows, 2> : multiply_tile<tile_rows, 1>;
        const tile_function small = wide ? multiply_tile<small_tile_rows, 2> : multiply_tile<small_tile_rows, 1>;
        if (rows == tile_rows) return large(first ? no_sum : to, to, windows, 1, tile_rows, panel, width, n, 1);
        alignas(64) float workspace[tile_rows * panel_width] = {};
        const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(rows * width);
        if (!first) std::memcpy(workspace, to, bytes);
        (height(rows) == tile_rows ? large : small)(workspace, workspace, windows, 1, height(rows), panel, width, n, 1);
        std::memcpy(to, workspace, bytes);
    }
    void clear(float* sums) const {
        for (int p = first_panel; p < last_panel; ++p) {
            const std::int64_t width = panel_columns(e.CO, p, panel_width, lanes);
            float* const to = sums + std::int64_t{p} * panel_width * e.depth() + first_row * width;
            std::fill_n(to, (last_row - first_row) * width, 0.f);
        }
    }
};

/// conv_weight_gradient for large images and many channels: reads windows from copies, block by
/// block. Operands: x [m, H, W, CI], dy [m, OH, OW, CO]; sums are made in scratch, and finish()
/// hands them to the body. Body: off in the packed weights, row = weight row (ky, kx, ci), col =
/// channel; padding lanes are zero.
///
/// Parts of a small gradient each sum some of the pixels, and finish() adds them in their order.
/// Where the gradient is large, so that a copy for each part would be memory and time, parts sum
/// different rows of it, or columns.
template <int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct window_weight_gradient {
    static constexpr window_extents extents = window_extents{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL}.flat();
    static constexpr int depth = KH * KW * CI, panels = (CO + panel_width - 1) / panel_width;
    static constexpr bool by_pixels = std::int64_t{depth} * CO <= (std::int64_t{1} << 16),
                          by_rows = !by_pixels && depth >= CO;
    /// Where an image and its gradient stay in the second-level cache, the windows of small
    /// gradients are read where they lie; where a tile has rows for most of a line, as 32 registers
    /// allow, all are.
    static constexpr bool small_images = std::int64_t{H} * W * CI + std::int64_t{OH} * OW * CO <= (1 << 16);
    /// So are windows of few channels: a copy takes longer then, and pixels that follow each other
    /// share their lines.
    static constexpr bool few_channels = CI < 64;
    /// And what is copied must be read by some panels: a copy takes nearly as long as one panel's
    /// sums.
    static constexpr bool few_panels = panels <= 2;
    static constexpr bool pays =
        tile_rows < floats_a_line / 2 && !few_channels && !few_panels && !(by_pixels && small_images);
    using sums = conv_sums<depth, CO, Body, by_pixels>;
    static constexpr int phases = 2;
    static constexpr std::int64_t scratch(int parts) { return sums::copies(parts) * sums::floats; }
    static void finish(const call& c) { sums::finish(c); }

    static void run(const call& c) {
        const auto cut = [&](bool cuts, std::int64_t n, std::int64_t& first, std::int64_t& last) {
            first = cuts ? share(n, c.part, c.parts) : 0;
            last = cuts ? share(n, c.part + 1, c.parts) : n;
        };
        constexpr int tiles = (depth + tile_rows - 1) / tile_rows;
        std::int64_t pixel[2], row[2], panel[2];
        cut(by_pixels, std::int64_t{c.m} * (OH * OW), pixel[0], pixel[1]);
        cut(by_rows, tiles, row[0], row[1]);
        cut(!by_pixels && !by_rows, panels, panel[0], panel[1]);
        const int last_row = std::min(depth, static_cast<int>(row[1]) * tile_rows);
        const int first_row = static_cast<int>(row[0]) * tile_rows;
        const int first_panel = static_cast<int>(panel[0]), last_panel = static_cast<int>(panel[1]);
        const window_sums s{extents, pixel[0], pixel[1], first_row, last_row, first_panel, last_panel};
        s.run(c.p[conv_weight_gradient_operand::x],
              c.p[conv_weight_gradient_operand::x] + c.m * (std::int64_t{H} * W * CI),
              c.p[conv_weight_gradient_operand::dy], c.scratch + (by_pixels ? c.part : 0) * sums::floats);
    }
};

} // namespace sinter::cpu
