// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/general_convolution/finish_rows.hpp>
#include <sinter/kernel/cpu/general_convolution/tap_lists.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

namespace sinter::cpu {

/// Convolutions of as many groups as channels, and (Backward) their input gradients. Operands and bodies as in convolution_results.hpp.
template <bool Backward, class Body>
struct depthwise_results {
    struct plan {
        channel_panels<true, Backward> panels;
        depthwise_blocks<Backward> blocks;
        std::int64_t result, lists, row;   ///< floats of a result that waits for the body, of a part's lists, and of a row of results

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, blocks(panels.x, 2 * tap_tile_rows<true>), result(round_up(blocks.channels, lanes)),
              lists(tap_lists<true, Backward>::floats(panels.x)), row(blocks.covered() * result) {}
        constexpr std::int64_t part_floats() const { return lists + blocks.copied_floats() + round_up(blocks.rows * row, 16); }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return q.panels.floats() + parts * q.part_floats();
    }
    static void prepare(const call& c) { plan(c.e).panels.write(c.p[1], c.scratch, c); }

    struct worker {
        const plan& q;
        const call& c;
        float* const room;
        tap_lists<true, Backward> lists;
        float *const copy, *const results;

        worker(const plan& q_, const call& c_)
            : q(q_), c(c_), room(c.scratch + q.panels.floats() + first_part(c) * q.part_floats()),
              lists(room, q.panels, q.blocks.pixel, q.blocks.pixel), copy(room + q.lists), results(copy + q.blocks.copied_floats()) {}

        void block(const result_block& b, const finisher& f) {
            const auto& blocks = q.blocks;
            blocks.read_block(b, c.p[0]);
            blocks.each_piece([&](const channel_piece& p) {
                for (int y = b.y0, next = 0; y < b.y1; ++y) {
                    next = blocks.copy_rows(b, p, y, next, c.p[0], copy);
                    lists.list_rows(blocks, b, y, [&](int plane, int row) { return blocks.copied_row(b, plane, row); });
                    lists.sum_row(b.columns(), copy, c.scratch + p.col * q.panels.rows(), lanes,
                                  results + (y - b.y0) * q.row + p.col, q.result, (p.there + lanes - 1) / lanes, lanes * q.panels.rows());
                }
            });
            finish_rows(blocks, b, results, q.row, blocks.channels, q.result, f, c);
        }
    };

    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        plan q(c.e);
        worker w(q, c);
        q.blocks.each_of_part(q.blocks.images(c.m), c, [&](const result_block& b) { w.block(b, f); });
    }
};

template <class Body, int... X>
struct nest<op::convolution, Body, 2, X...> { using type = depthwise_results<false, Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 2, X...> { using type = depthwise_results<true, Body>; };

} // namespace sinter::cpu
