// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/prefetch_sources.hpp>
#include <sinter/kernel/cpu/conv_nd/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/conv_nd/panel_sums.hpp>
#include <sinter/kernel/cpu/conv_nd/window_lists.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// The weights' gradient of convolutions of as many groups as channels. Operands and body as in
/// convolution_weight_sums.hpp.
template <class = void>   // not compiled where it is only included
struct depthwise_weight_parts {
    using panels = channel_panels<true, false>;
    using lists = window_lists<channel_weight_sums, false>;
    static constexpr int phases = 2;

    /// Each part's sums, then each part's lists.
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const convolution_extents x(e);
        return parts * (panels{x}.floats() + lists::floats(x));
    }
    static void run(const call& c) {
        const panels sums{convolution_extents(c.e)};
        const int channels = sums.x.inputs;
        float* const to = c.scratch + c.part * sums.floats();
        std::fill_n(to, sums.floats(), 0.f);
        depthwise_blocks<false> blocks(sums.x, c.m);
        prefetch_sources<false> prefetch(blocks, c.p[conv_weight_gradient_operand::x], channels);
        lists overlapped(c.scratch + c.parts * sums.floats() + first_part(c) * lists::floats(sums.x), sums, c.m);
        const float* const end = c.p[conv_weight_gradient_operand::dy] + c.m * std::int64_t{sums.x.axis[0].out} *
                                                                             sums.x.axis[1].out * sums.x.axis[2].out *
                                                                             channels;
        blocks.each_of_part(c.m, c, [&](const result_block& b) {
            for (int y = b.y0; y < b.y1; ++y) {
                const float* const dy = c.p[conv_weight_gradient_operand::dy] + blocks.first_result(b, y) * channels;
                const float* next = dy + prefetch_lines::ahead;
                overlapped.list_rows(blocks, b, y);
                prefetch.begin_row(b, y);
                overlapped.each_tile(b.x0, b.x1, c.p[conv_weight_gradient_operand::x], to, dy, channels, end,
                                     [&](prefetch_lines& lines, int, int n) {
                                         if (!blocks.exceeds_second_level) return;
                                         prefetch.add_to(lines, n);
                                         lines.add(next, std::int64_t{n} * lanes);
                                         next += std::int64_t{n} * channels;
                                     });
            }
        });
    }
};
template <class Body>
struct depthwise_weight_sums : depthwise_weight_parts<> {
    static void finish(const call& c) { finish_panels<Body>(channel_panels<true, false>{convolution_extents(c.e)}, c); }
};

template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 2, X...> { using type = depthwise_weight_sums<Body>; };

} // namespace sinter::cpu
