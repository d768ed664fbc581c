// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/cpu/conv/sparse_pixel_lists.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/gemm/run_share.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// conv_weight_gradient's operands and body, skipping what is zero of the inputs where that is
/// much; else by `Dense`. This has sums of its own for each part, or one copy of them, or (by 1 x
/// 1) hands each sum to the body as it is finished.
template <class Dense, int H, int W, int CI, int OH, int OW, int CO, int KH, int KW, int S, int PT, int PL, class Body>
struct sparse_weight_gradient {
    static constexpr window_extents extents{H, W, CI, OH, OW, CO, KH, KW, S, PT, PL};
    static constexpr bool has_sums = requires { typename Dense::sums; };
    static constexpr bool by_pixels = [] {
        if constexpr (has_sums) return Dense::sums::copies(2) == 2;
        else return false;
    }();
    static constexpr bool pays = sparse_pixel_lists::suits(CI, CO);
    static constexpr int phases = has_sums ? 2 : 1, depth = extents.depth();

    /// Cells, of some channels of a tap by a group: several side by side, whose sums stay in the
    /// second-level cache, are done at once.
    static constexpr std::int64_t across = CO / sparse_pixel_lists::group;
    static constexpr std::int64_t rows = std::min<std::int64_t>(CI, across < 4 ? sparse_pixel_lists::most_rows : 256);
    static constexpr std::int64_t most = std::min<std::int64_t>(across, 1024 / rows);
    static constexpr std::int64_t blocks = (CI + rows - 1) / rows, cells = KH * KW * blocks * across;

    static constexpr std::int64_t floats =
        sparse_pixel_lists::floats(rows) + (has_sums ? 0 : rows * most * sparse_pixel_lists::group);
    static constexpr std::int64_t dense_floats(int parts) {
        if constexpr (has_sums) return Dense::scratch(parts);
        return 0;
    }
    static constexpr std::int64_t scratch(int parts) { return dense_floats(parts) + parts * floats; }
    static void finish(const call& c) {
        if constexpr (has_sums) Dense::finish(c);
    }

    static void run(const call& c) {
        std::int64_t pixel[2] = {0, c.m * extents.pixels()}, cell[2] = {0, cells};
        if constexpr (by_pixels) {
            constexpr std::int64_t at_once = requires { Dense::by_images; } ? extents.pixels() : 1;
            pixel[0] = share(c.m * extents.pixels() / at_once, c.part, c.parts) * at_once;
            pixel[1] = share(c.m * extents.pixels() / at_once, c.part + 1, c.parts) * at_once;
        }
        if (!has_many_zeros(c.p[conv_weight_gradient_operand::x], pixel[0], pixel[1])) return Dense::run(c);
        if constexpr (!by_pixels) {
            static constexpr epilogue f = epilogue_of<Body>();
            const bool together = c.end > c.first && (has_sums || !f.by_part);   // by the thread's first part
            if (together && c.part != c.first) return;
            cell[0] = share(cells, c.part, c.parts);
            cell[1] = share(cells, together ? c.end : c.part + 1, c.parts);
        }
        run_cells(pixel, cell, c);
    }

private:
    /// Of the pixels that come in, in about the place of these that go out.
    static bool has_many_zeros(const float* x, std::int64_t first, std::int64_t last) {
        if (last - first < mask_bits) return false;
        const std::int64_t in = std::int64_t{H} * W, from = first * in / extents.pixels(),
                           to = last * in / extents.pixels();
        return non_zero_share(x + from * CI, to - from, CI, CI) <= sparse_list_share(most);
    }
    static void run_cells(const std::int64_t (&pixel)[2], const std::int64_t (&cell)[2], const call& c) {
        constexpr std::int64_t group = sparse_pixel_lists::group;
        static constexpr epilogue f = epilogue_of<Body>();
        float* const workspace = c.scratch + dense_floats(c.parts) + first_part(c) * floats;
        for (std::int64_t k = cell[0], n; k < cell[1]; k += n) {
            const std::int64_t g = k % across, block = k / across % blocks, t = k / across / blocks;
            n = std::min({cell[1] - k, across - g, most});
            const std::int64_t channel = block * rows, row = t * CI + channel;
            const window_tap tap{extents, static_cast<int>(t / KW), static_cast<int>(t % KW)};
            const sparse_pixel_lists q{tap, c.p[conv_weight_gradient_operand::x] + channel,
                                       c.p[conv_weight_gradient_operand::dy] + g * group,
                                       std::min<std::int64_t>(rows, CI - channel), n, pixel[0], pixel[1]};
            if constexpr (has_sums) {
                float* const sums = c.scratch + (by_pixels ? c.part * Dense::sums::floats : 0);
                q.run(sums + g * group * depth + row * panel_width, std::int64_t{depth} * panel_width, workspace,
                      {nullptr, depth, row, g * group}, c);
            } else {
                q.run(workspace + sparse_pixel_lists::floats(rows), q.rows * panel_width, workspace,
                      {&f, depth, row, g * group}, c);
            }
        }
    }
};

} // namespace sinter::cpu
