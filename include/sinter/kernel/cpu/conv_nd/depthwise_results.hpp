// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/prefetch_sources.hpp>
#include <sinter/kernel/cpu/conv_nd/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/conv_nd/window_lists.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Convolutions of as many groups as channels, and (Backward) their input gradients. Operands and
/// bodies as in convolution_results.hpp, and as there what any body shares.
template <bool Backward>
struct depthwise_sums {
    using lists = window_lists<channel_sums, Backward>;

    struct plan {
        channel_panels<true, Backward> panels;
        int channels;
        std::int64_t result;         ///< floats of one that waits for the body: whole vectors
        int piece;                   ///< of a row: results that wait, in the first-level cache
        std::int64_t list_floats, workspace;   ///< floats of a part's lists, and of all that it has

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, channels(panels.x.inputs), result(round_up(channels, lanes)),
              piece(static_cast<int>(round_up(first_level_floats / 2 / result, window_results * phases()))),
              list_floats(lists::floats(panels.x)), workspace(list_floats + piece * result) {}
        constexpr int phases() const { return convolution_axis<Backward>(panels.x.axis[2]).phases(); }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return q.panels.floats() + parts * q.workspace;
    }
    static void prepare(const call& c) { plan(c.e).panels.write(c.p[conv_operand::weights], c.scratch, c); }

    static void run(const call& c, const epilogue& f) {
        const plan q(c.e);
        float* const workspace = c.scratch + q.panels.floats() + first_part(c) * q.workspace;
        float* const results = workspace + q.list_floats;
        const std::int64_t images = result_blocks<Backward>(q.panels.x, window_results).images(c.m);
        depthwise_blocks<Backward> blocks(q.panels.x, images);
        prefetch_sources<Backward> prefetch(blocks, c.p[conv_operand::source], q.channels);
        lists overlapped(workspace, q.panels, images);
        blocks.each_of_part(images, c, [&](const result_block& b) {
            for (int y = b.y0; y < b.y1; ++y) {
                overlapped.list_rows(blocks, b, y);
                prefetch.begin_row(b, y);
                for (int x = b.x0; x < b.x1; x += q.piece) {
                    const int end = std::min(x + q.piece, b.x1);
                    const std::int64_t first = blocks.first_result(b, y) + x - b.x0;
                    std::int64_t next = first * q.channels + prefetch_lines::ahead;
                    overlapped.each_tile(x, end, c.p[conv_operand::source], c.scratch, results, q.result,
                                         workspace + q.workspace, [&](prefetch_lines& lines, int phase, int n) {
                                             if (!blocks.exceeds_second_level) return;
                                             if (phase == 0) prefetch.add_to(lines, n);
                                             lines.add_body(f, next, std::int64_t{n} * lanes, c);
                                             next += std::int64_t{n} * q.channels;
                                         });
                    f.finish({results, end - x, q.channels, static_cast<int>(q.result), first * q.channels, q.channels,
                              first, 0},
                             c);
                }
            }
        });
    }
};
template <bool Backward, class Body>
struct depthwise_results : depthwise_sums<Backward> {
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        depthwise_sums<Backward>::run(c, f);
    }
};

template <class Body, int... X>
struct nest<op::convolution, Body, 2, X...> { using type = depthwise_results<false, Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 2, X...> { using type = depthwise_results<true, Body>; };

} // namespace sinter::cpu
