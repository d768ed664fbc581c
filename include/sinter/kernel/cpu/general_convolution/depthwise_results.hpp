// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/coming_lines.hpp>
#include <sinter/kernel/cpu/general_convolution/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/general_convolution/window_lists.hpp>
#include <sinter/kernel/cpu/product/finish.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

namespace sinter::cpu {

/// Convolutions of as many groups as channels, and (Backward) their input gradients. Operands and bodies as in convolution_results.hpp.
template <bool Backward, class Body>
struct depthwise_results {
    using lists = window_lists<channel_sums, Backward>;

    struct plan {
        channel_panels<true, Backward> panels;
        result_blocks<Backward> blocks;
        int channels;
        std::int64_t result;         ///< floats of one that waits for the body: whole vectors
        int piece;                   ///< of a row: results that wait, in the first-level cache
        std::int64_t listed, room;   ///< floats of a part's lists, and of all that it has

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, blocks(depthwise_blocks<Backward>(panels.x)), channels(panels.x.inputs),
              result(round_up(channels, lanes)),
              piece(static_cast<int>(round_up(first_level_floats / 2 / result, window_results * blocks.x.phases()))),
              listed(lists::floats(panels.x)), room(listed + piece * result) {}
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return q.panels.floats() + parts * q.room;
    }
    static void prepare(const call& c) { plan(c.e).panels.write(c.p[1], c.scratch, c); }

    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        plan q(c.e);
        float* const room = c.scratch + q.panels.floats() + first_part(c) * q.room;
        float* const results = room + q.listed;
        lists met(room, q.panels);
        coming_sources<Backward> coming(q.blocks, c.p[0], q.channels);
        const bool far = q.blocks.images(c.m) * (q.panels.x.in_pixels() + q.panels.x.out_pixels()) * q.channels > MOST;
        q.blocks.each_of_part(q.blocks.images(c.m), c, [&](const result_block& b) {
            for (int y = b.y0; y < b.y1; ++y) {
                met.list_rows(q.blocks, b, y);
                coming.begin_row(b, y);
                for (int x = b.x0; x < b.x1; x += q.piece) {
                    const int end = std::min(x + q.piece, b.x1);
                    const std::int64_t first = q.blocks.first_result(b, y) + x - b.x0;
                    std::int64_t next = first * q.channels + 2048;
                    met.each_tile(x, end, c.p[0], c.scratch, results, q.result, [&](coming_lines& lines, int phase, int n) {
                        if (!far) return;
                        if (phase == 0) coming.add_to(lines, n);
                        if (f.list) add_body(lines, f, next, std::int64_t{n} * lanes, c);
                        next += std::int64_t{n} * q.channels;
                    });
                    f.finish({results, end - x, q.channels, static_cast<int>(q.result), first * q.channels, q.channels, first, 0}, c);
                }
            }
        });
    }
};

template <class Body, int... X>
struct nest<op::convolution, Body, 2, X...> { using type = depthwise_results<false, Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 2, X...> { using type = depthwise_results<true, Body>; };

} // namespace sinter::cpu
