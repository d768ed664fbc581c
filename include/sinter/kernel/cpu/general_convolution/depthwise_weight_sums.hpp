// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/general_convolution/panel_sums.hpp>
#include <sinter/kernel/cpu/general_convolution/weight_tile.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

namespace sinter::cpu {

/// The weights' gradient of convolutions of as many groups as channels. Operands and body as in convolution_weight_sums.hpp.
template <class Body>
struct depthwise_weight_sums {
    static constexpr int phases = 2;

    struct plan {
        channel_panels<true, false> panels;
        depthwise_blocks<false> blocks;
        std::int64_t sums, list, room;   ///< floats of a part's sums, its list, and that with copied sources and gradients

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, blocks(panels.x, 56), sums(panels.floats()),
              list(round_up(4 * std::int64_t{blocks.z.k} * blocks.y.k, 16)),
              room(list + blocks.copied_floats() + std::int64_t{blocks.columns} * lanes) {}
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return parts * (q.sums + q.room);
    }

    struct worker {
        const plan& q;
        const call& c;
        float *const sums, *const room;
        met_tap* const met;   ///< the rows of taps of a row of results: where the copies of what they meet begin, and their sums
        float *const copy, *const gradients;

        worker(const plan& q_, const call& c_)
            : q(q_), c(c_), sums(c.scratch + c.part * q.sums), room(c.scratch + c.parts * q.sums + first_part(c) * q.room),
              met(reinterpret_cast<met_tap*>(room)), copy(room + q.list), gradients(copy + q.blocks.copied_floats()) {
            std::fill_n(sums, q.sums, 0.f);
        }
        void block(const result_block& b) const {
            const auto& blocks = q.blocks;
            blocks.read_block(b, c.p[0]);
            read_results(blocks, b, c.p[1], blocks.channels);
            blocks.each_piece([&](const channel_piece& piece) {
                for (int y = b.y0, next = 0; y < b.y1; ++y) {
                    next = blocks.copy_rows(b, piece, y, next, c.p[0], copy);
                    int rows = 0;
                    each_row_of_taps(blocks.z, blocks.y, b.z, y, [&](int plane, int row, int taps) {
                        met[rows++] = {blocks.copied_row(b, plane, row), q.panels.row(taps, 0) * lanes};
                    });
                    for (int j = 0; j < piece.there; j += lanes) vector_row(b, piece, y, j, rows);
                }
            });
        }

    private:
        /// A row's gradients of one vector of a piece's channels.
        void vector_row(const result_block& b, const channel_piece& piece, int y, int j, int rows) const {
            const auto& blocks = q.blocks;
            summed_rows r{};
            r.step = blocks.x.step() * blocks.pixel, r.term_step = blocks.x.dilation * blocks.pixel;
            r.rows = 1, r.columns = b.columns();
            r.dy = c.p[1] + blocks.first_result(b, y) * blocks.channels + piece.col + j, r.dy_step = blocks.channels;
            if (piece.there - j < lanes) {   // copied, so that whole vectors can be read
                for (int i = 0; i < r.columns; ++i) store(gradients + i * lanes, load(r.dy + i * r.dy_step, piece.there - j));
                r.dy = gradients, r.dy_step = lanes;
            }
            float* const to = sums + (piece.col + j) * q.panels.rows();
            for (int i = 0, several = 0; i < rows; i += several) {
                several = blocks.x.k <= most_lane_sums<3> && rows - i >= 3 ? 3 : 1;
                for (int n = 0; n < several; ++n) r.x[n] = copy + met[i + n].source + j, r.sums[n] = to + met[i + n].weights;
                several == 3 ? add<3>(r) : add<1>(r);
            }
        }
        /// Adds what R rows of taps meet; moves r to what lies behind them.
        template <int R>
        void add(summed_rows& r) const {
            for (int k = q.blocks.x.k; k > 0; k -= most_lane_sums<R>) {
                const int count = std::min(k, most_lane_sums<R>);
                lane_tile_of<R>(count)(r, count);
                for (int n = 0; n < R; ++n) r.x[n] += count * r.term_step, r.sums[n] += count * lanes;
            }
        }
    };

    static void run(const call& c) {
        plan q(c.e);
        const worker w(q, c);
        q.blocks.each_of_part(c.m, c, [&](const result_block& b) { w.block(b); });
    }
    static void finish(const call& c) { finish_panels<Body>(plan(c.e).panels, c); }
};

template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 2, X...> { using type = depthwise_weight_sums<Body>; };

} // namespace sinter::cpu
