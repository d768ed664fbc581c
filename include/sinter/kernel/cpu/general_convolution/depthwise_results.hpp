// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/depthwise_blocks.hpp>
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
        bool together;          ///< a row's taps lie one behind the other, as their sources do
        std::int64_t result;    ///< floats of a pixel's results that wait for the body
        std::int64_t lists;     ///< floats of a part's lists

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, blocks(panels.x, 2 * tap_tile_rows<true>),
              together(blocks.x.dilation == 1 && blocks.x.phases() == 1),
              result(round_up(blocks.channels, lanes)),
              lists(round_up(4 * (std::int64_t{blocks.z.k} * blocks.y.k + blocks.x.k) + blocks.x.phases() + 1, 16)) {}
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
        met_tap *met_rows, *met;
        std::int32_t* first_met;   ///< of each phase, among `met`
        float *copy, *results;

        explicit worker(const call& c_) : q(c_.e), c(c_) {
            const auto& x = q.blocks.x;
            float* const room = c.scratch + q.panels.floats() + first_part(c) * q.part_floats();
            met_rows = reinterpret_cast<met_tap*>(room);
            met = met_rows + q.blocks.z.k * q.blocks.y.k;
            first_met = reinterpret_cast<std::int32_t*>(met + x.k);
            copy = room + q.lists;
            results = copy + q.blocks.copied_floats();
            int n = 0;
            for (int p = 0; p < x.phases(); ++p) {
                first_met[p] = n;
                for (int k = 0, at = 0; k < x.k; ++k)
                    if (x.meets(p, k, at)) met[n++] = {(at - x.lowest(0)) * q.blocks.pixel, q.panels.row(0, k)};
            }
            first_met[x.phases()] = n;
            if (q.together) met[0] = {0, 0}, first_met[1] = 1;
        }
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
                    met_rows[rows++] = {blocks.copied_row(b, plane, at), q.panels.row(tap, Backward ? x.k - 1 : 0)};
                });
                for (int phase = 0; phase < phases && phase < columns; ++phase) {
                    const row_tiles tiles((columns - phase + phases - 1) / phases, tap_tile_rows<true>);
                    const tap_tile tile = tap_tile_of<true>(tiles.height, lanes);
                    const met_taps taps{met_rows, rows, met + first_met[phase], first_met[phase + 1] - first_met[phase],
                                        q.together ? x.k : 1, blocks.pixel, (p.there + lanes - 1) / lanes, lanes * q.panels.rows()};
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
