// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv/window_panels.hpp>
#include <sinter/kernel/cpu/gemm/sparse/sparse_rows.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// A tap of a convolution's windows: which pixel that comes in meets a pixel that goes out.
struct window_tap {
    const window_extents& e;
    int ky, kx;

    /// Of output pixels [first, first + n), numbered through all images: where their channels are,
    /// `none` in the padding. Returns those that are in the image as bits, of n <= 64.
    std::uint64_t find(const float* x, std::int64_t first, std::int64_t n, const float* none, const float** to) const {
        std::uint64_t there = 0;
        std::int64_t image = first / e.pixels();
        int oy = static_cast<int>(first % e.pixels() / e.OW), ox = static_cast<int>(first % e.OW);
        for (std::int64_t i = 0; i < n; ++i) {
            const int y = oy * e.S + ky - e.PT, at = ox * e.S + kx - e.PL;
            const bool in = y >= 0 && y < e.H && at >= 0 && at < e.W;
            to[i] = in ? x + image * e.image_floats() + (std::int64_t{y} * e.W + at) * e.CI : none;
            there |= std::uint64_t{in} << i;
            if (++ox < e.OW) continue;
            ox = 0;
            if (++oy < e.OH) continue;
            oy = 0;
            ++image;
        }
        return there;
    }
};

/// Sums of weights' gradients over some pixels where inputs are often zero, as behind relu. Of
/// each input channel (there are `rows`) the pixels in which it is not zero are listed, 64 at a
/// time. The lists are gone over with lanes along output channels, in groups of four panels.
struct sparse_pixel_lists {
    static constexpr std::int64_t group = sparse_columns;
    static constexpr std::int64_t floats(std::int64_t rows) {
        return round_up(mask_bits * group + row_lists::floats(rows, mask_bits), 16);
    }
    static constexpr bool suits(std::int64_t rows, std::int64_t columns) {
        return rows >= mask_bits && rows % lanes == 0 && columns >= group && columns % group == 0;
    }

    static constexpr std::int64_t most_rows = 512;
    alignas(64) static constexpr float no_pixel[most_rows] = {};

    const window_tap& tap;
    const float *x, *dy;   ///< of the first of these channels
    std::int64_t rows, groups, first_pixel, last_pixel;

    /// Where the sums belong: in a packed result of so many rows, from this row and column on. `f`,
    /// if there, finishes them.
    struct result {
        const epilogue* f;
        std::int64_t rows, row, column;
        std::int64_t off(std::int64_t g) const { return (column + g * group) * rows + row * panel_width; }
    };

    /// sums: panels of [rows][panel_width], panel_step apart.
    template <class = void>
    __attribute__((noinline)) void run(float* sums, std::int64_t panel_step, float* workspace, const result& y,
                                       const call& c) const {
        constexpr std::int64_t d_lines = mask_bits * group / floats_a_line;
        constexpr std::int64_t x_lines = mask_bits / floats_a_line;   // of a row's pixels, if they were side by side
        const std::int64_t d_step = tap.e.CO, x_step = tap.e.S * tap.e.CI;
        const std::int64_t d_share = (d_lines + rows - 1) / rows, x_share = (x_lines + groups - 1) / groups;
        const row_lists lists(workspace + mask_bits * group, rows, mask_bits);
        for (std::int64_t i = first_pixel; i < last_pixel; i += mask_bits) {
            const std::int64_t n = std::min<std::int64_t>(mask_bits, last_pixel - i);
            const bool last = i + n == last_pixel;
            const float *at[mask_bits], *next_at = nullptr;
            const std::uint64_t there = tap.find(x, i, n, no_pixel, at);
            std::fill(at + n, at + mask_bits, no_pixel);
            if (!last) tap.find(x, i + n, 1, nullptr, &next_at);
            make_lists(lists, at, 0);
            bool all = false;
            for (std::int64_t g = 0; g < groups; ++g) {
                const float* const from = dy + i * d_step + g * group;
                if (!copy(from, d_step, n, workspace) && !all) {   // zero times infinity is NaN
                    make_lists(lists, at, there);
                    all = true;
                }
                prefetched_pieces next_dy{from + group, group, d_step, d_share}, next_x;
                if (g + 1 == groups) next_dy = {dy + (i + n) * d_step, group, d_step, last ? 0 : d_share};
                if (next_at && g * x_share < x_lines)
                    next_x = {next_at + g * x_share * floats_a_line * x_step, rows, x_step, x_share};
                float* const to = sums + g * sparse_panels * panel_step;
                tile_lines touched;
                asked_body body;
                if (last && y.f && y.f->list) {
                    y.f->list({to, sparse_panels, panel_width, panel_width, y.off(g), y.rows * panel_width, 0, 0}, c,
                              touched);
                    body = {&touched, 0, panel_width};
                }
                add_sparse_rows(lists, 0, nullptr, 0, rows, workspace, mask_bits * panel_width,
                                {to, panel_width, panel_step, i == first_pixel}, next_dy, next_x, body);
                if (last && y.f) finish(to, panel_step, g, y, c);
            }
        }
    }

private:
    void finish(const float* sums, std::int64_t panel_step, std::int64_t g, const result& y, const call& c) const {
        for (int p = 0; p < sparse_panels; ++p)
            y.f->finish({sums + p * panel_step, static_cast<int>(rows), panel_width, panel_width,
                         y.off(g) + p * panel_width * y.rows, panel_width, y.row,
                         static_cast<int>(y.column + g * group + p * panel_width)}, c);
    }
    /// Pixels marked in `always` are listed as zeros, too.
    void make_lists(const row_lists& lists, const float* const* at, std::uint64_t always) const {
        for (std::int64_t k = 0; k < rows; k += lanes) {
            float* to[lanes];
            std::uint64_t mask[lanes] = {};
            for (int l = 0; l < lanes; ++l) to[l] = lists.values + (k + l) * mask_bits;
            for (int j = 0; j < mask_bits; j += lanes) {
                vf r[lanes];
                unroll<lanes>([&](int i) SINTER_ALWAYS { r[i] = load(at[j + i] + k); });
                transpose_lanes(r);
                const std::uint64_t also = always >> j & first_bits(lanes);
                unroll<lanes>([&](int l) SINTER_ALWAYS {
                    const std::uint64_t bits = non_zero_bits(r[l]) | also;
                    to[l] += store_marked(to[l], r[l], static_cast<unsigned>(bits));
                    mask[l] |= bits << j;
                });
            }
            std::copy(mask, mask + lanes, lists.masks + k);
        }
    }
    /// Four panels of n pixels, one behind the other; false: one is not finite.
    static bool copy(const float* from, std::int64_t step, std::int64_t n, float* to) {
        vf finite[2] = {};
        for (std::int64_t i = 0; i < n; ++i, from += step, to += panel_width)
            unroll<2 * sparse_panels>([&](int v) SINTER_ALWAYS {
                const vf y = load(from + v * lanes);
                finite[v % 2] = fma(y, zero(), finite[v % 2]);
                store(to + v / 2 * mask_bits * panel_width + v % 2 * lanes, y);
            });
        return sum_lanes(finite[0] + finite[1]) == 0.f;
    }
};

} // namespace sinter::cpu
