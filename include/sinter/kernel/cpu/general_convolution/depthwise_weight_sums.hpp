// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/coming_lines.hpp>
#include <sinter/kernel/cpu/general_convolution/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/general_convolution/panel_sums.hpp>
#include <sinter/kernel/cpu/general_convolution/window_lists.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

namespace sinter::cpu {

/// The weights' gradient of convolutions of as many groups as channels. Operands and body as in convolution_weight_sums.hpp.
template <class Body>
struct depthwise_weight_sums {
    using lists = window_lists<channel_weight_sums, false>;
    static constexpr int phases = 2;

    struct plan {
        channel_panels<true, false> panels;
        result_blocks<false> blocks;
        std::int64_t sums, room;   ///< floats of a part's sums, and of its lists

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, blocks(depthwise_blocks<false>(panels.x)), sums(panels.floats()),
              room(lists::floats(panels.x)) {}
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return parts * (q.sums + q.room);
    }

    static void run(const call& c) {
        plan q(c.e);
        float* const sums = c.scratch + c.part * q.sums;
        std::fill_n(sums, q.sums, 0.f);
        lists met(c.scratch + c.parts * q.sums + first_part(c) * q.room, q.panels);
        const int channels = q.panels.x.inputs;
        coming_sources<false> coming(q.blocks, c.p[0], channels);
        const bool far = c.m * (q.panels.x.in_pixels() + q.panels.x.out_pixels()) * channels > MOST;
        q.blocks.each_of_part(c.m, c, [&](const result_block& b) {
            for (int y = b.y0; y < b.y1; ++y) {
                met.list_rows(q.blocks, b, y);
                coming.begin_row(b, y);
                const float* dy = c.p[1] + q.blocks.first_result(b, y) * channels + 4096;
                met.each_tile(b.x0, b.x1, c.p[0], sums, c.p[1] + q.blocks.first_result(b, y) * channels, channels, [&](coming_lines& lines, int, int n) {
                    if (!far) return;
                    coming.add_to(lines, n);
                    lines.add(dy, n * lanes), dy += std::int64_t{n} * channels;
                });
            }
        });
    }
    static void finish(const call& c) { finish_panels<Body>(plan(c.e).panels, c); }
};

template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 2, X...> { using type = depthwise_weight_sums<Body>; };

} // namespace sinter::cpu
