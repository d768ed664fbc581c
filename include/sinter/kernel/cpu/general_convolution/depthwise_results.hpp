// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/general_convolution/tap_lists.hpp>
#include <sinter/kernel/cpu/product/finish.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

namespace sinter::cpu {

/// Convolutions of as many groups as channels, and (Backward) their input gradients. Operands and bodies as in convolution_results.hpp.
template <bool Backward, class Body>
struct depthwise_results {
    using block_type = typename depthwise_blocks<Backward>::block;
    using piece_type = typename depthwise_blocks<Backward>::piece;

    struct plan {
        channel_panels<true, Backward> panels;
        depthwise_blocks<Backward> blocks;
        std::int64_t result, lists;   ///< floats of a pixel's results that wait for the body, and of a part's lists

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, blocks(panels.x, 2 * tap_tile_rows<true>), result(round_up(blocks.channels, lanes)),
              lists(tap_lists<Backward>::floats(panels.x)) {}
        constexpr std::int64_t row() const { return result * blocks.tiles(blocks.columns).covered() * blocks.x.phases(); }
        constexpr std::int64_t part_floats() const { return lists + blocks.copied_floats() + round_up(blocks.rows * row(), 16); }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return q.panels.floats() + parts * q.part_floats();
    }
    static void prepare(const call& c) { plan(c.e).panels.write(c.p[1], c.scratch, c); }

    struct worker {
        plan q;
        const call& c;
        float* const room;
        tap_lists<Backward> lists;
        float *const copy, *const results;

        explicit worker(const call& c_)
            : q(c_.e), c(c_), room(c.scratch + q.panels.floats() + first_part(c) * q.part_floats()),
              lists(room, q.panels, q.blocks.pixel), copy(room + q.lists), results(copy + q.blocks.copied_floats()) {}
        void block(const block_type& b, const finisher& f) const {
            const auto& blocks = q.blocks;
            blocks.read_block(b, c.p[0]);
            blocks.each_piece([&](const piece_type& p) { piece(b, p); });
            for (int y = b.y0; y < b.y1; ++y) {   // results, and what the body reads, as they lie in memory
                const std::int64_t pixel = blocks.result_pixel(b, y);
                f.finish({results + (y - b.y0) * q.row(), b.x1 - b.x0, blocks.channels, static_cast<int>(q.result), pixel * blocks.channels,
                          blocks.channels, pixel, 0}, c);
            }
        }
        void piece(const block_type& b, const piece_type& p) const {
            const auto& blocks = q.blocks;
            const auto& x = blocks.x;
            const int phases = x.phases(), columns = b.x1 - b.x0;
            const std::int64_t step = x.step() * blocks.pixel, to_step = phases * q.result;
            for (int y = b.y0, next = 0; y < b.y1; ++y) {
                next = blocks.copy_rows(b, p, y, next, c.p[0], copy);
                int rows = 0;
                blocks.each_row_of_taps(b, y, [&](int plane, int at, int tap) {
                    lists.rows[rows++] = {blocks.copied_row(b, plane, at), q.panels.row(tap, Backward ? x.k - 1 : 0)};
                });
                for (int phase = 0; phase < phases && phase < columns; ++phase) {
                    const row_tiles tiles((columns - phase + phases - 1) / phases, tap_tile_rows<true>);
                    const tap_tile tile = tap_tile_of<true>(tiles.height, lanes);
                    met_taps taps = lists.of_phase(phase, rows, lists.together ? x.k : 1, blocks.pixel);
                    taps.vectors = (p.there + lanes - 1) / lanes;
                    taps.vector_step = lanes * q.panels.rows();
                    float* const to = results + (y - b.y0) * q.row() + phase * q.result + p.col;
                    for (int i = 0; i < tiles.covered(); i += tiles.height)
                        tile(to + i * to_step, to_step, copy + i * step, step, taps, c.scratch + p.col * q.panels.rows());
                }
            }
        }
    };

    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        worker w(c);
        auto& blocks = w.q.blocks;
        const std::int64_t images = c.m / (std::int64_t{blocks.z.results()} * blocks.y.results() * blocks.x.results());
        blocks.share_among(images, c.parts);
        const std::int64_t n = blocks.count(images), end = share(n, c.part + 1, c.parts);
        for (std::int64_t i = share(n, c.part, c.parts); i < end; ++i) w.block(blocks.at(i), f);
    }
};

template <class Body, int... X>
struct nest<op::convolution, Body, 2, X...> { using type = depthwise_results<false, Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 2, X...> { using type = depthwise_results<true, Body>; };

} // namespace sinter::cpu
