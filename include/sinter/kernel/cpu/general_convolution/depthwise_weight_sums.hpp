// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/depthwise_blocks.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

namespace sinter::cpu {

/// What a row of gradients adds to sums of R rows of taps: of each row its first tap's first source, a result's every `step` floats and
/// a tap's every `tap_step`, and its sums, a vector for each tap.
struct depthwise_row {
    const float* const* x;
    float* const* sums;
    std::int64_t step, tap_step;
    const float* dy;
    std::int64_t dy_step;
    int columns;
};
using depthwise_sum = void (*)(const depthwise_row&);

/// A taps of each row. Several results at a time are summed apart where so few sums would wait for each other.
template <int A, int R>
__attribute__((noinline)) void sum_depthwise(const depthwise_row& s) {
    constexpr int all = A * R, apart = all >= 8 ? 1 : all > 4 ? 2 : all > 2 ? 3 : all > 1 ? 4 : 8, pointers = (A + 2) / 3;
    const std::int64_t step = s.step, tap_step = s.tap_step, dy_step = s.dy_step;
    const float *x[R * pointers], *dy = s.dy;
    unroll<R * pointers>([&](int i) SINTER_ALWAYS {
        x[i] = s.x[i / pointers] + 3 * (i % pointers) * tap_step;
        asm("" : "+r"(x[i]));
    });
    vf c[apart * all];
    clear_block(c);
    const auto add = [&](int set) SINTER_ALWAYS {
        vf d = load(dy);
        pin(d);
        unroll<all>([&](int i) SINTER_ALWAYS {
            const int a = i % A;
            c[set * all + i] = fma(load(x[i / A * pointers + a / 3] + a % 3 * tap_step), d, c[set * all + i]);
        });
        unroll<R * pointers>([&](int i) SINTER_ALWAYS { x[i] += step; });
        dy += dy_step;
    };
    int n = s.columns;
    for (; n >= apart; n -= apart) unroll<apart>(add);
    for (; n > 0; --n) add(0);
    unroll<all>([&](int i) SINTER_ALWAYS {
        float* const to = s.sums[i / A] + i % A * lanes;
        vf sum = load(to);
        unroll<apart>([&](int k) SINTER_ALWAYS { sum += c[k * all + i]; });
        store(to, sum);
    });
}
/// How many taps of a row are summed at once, and how many of each of three rows.
inline constexpr int most_depthwise_taps = 8, most_of_three_rows = 5;
template <int R, int... I>
depthwise_sum depthwise_sum_of(int taps, std::integer_sequence<int, I...>) {
    static constexpr depthwise_sum of[] = {sum_depthwise<I + 1, R>...};
    return of[taps - 1];
}

/// The weights' gradient of convolutions of as many groups as channels: as convolution_weight_sums.hpp has it.
template <class Body>
struct depthwise_weight_sums {
    static constexpr int phases = 2;
    using block_type = depthwise_blocks<false>::block;
    using piece_type = depthwise_blocks<false>::piece;

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
        plan q;
        const call& c;
        float* sums;
        met_tap* met;   ///< rows of taps
        float *copy, *gradients;

        explicit worker(const call& c_) : q(c_.e), c(c_), sums(c.scratch + c.part * q.sums) {
            float* const room = c.scratch + c.parts * q.sums + first_part(c) * q.room;
            met = reinterpret_cast<met_tap*>(room);
            copy = room + q.list;
            gradients = copy + q.blocks.copied_floats();
            std::fill_n(sums, q.sums, 0.f);
        }
        void block(const block_type& b) const {
            const auto& blocks = q.blocks;
            blocks.read_block(b, c.p[0]);
            for (int y = b.y0; y < b.y1; ++y)
                read_through(c.p[1] + blocks.result_pixel(b, y) * blocks.channels, std::int64_t{b.x1 - b.x0} * blocks.channels);
            blocks.each_piece([&](const piece_type& piece) {
                for (int y = b.y0, next = 0; y < b.y1; ++y) {
                    next = blocks.copy_rows(b, piece, y, next, c.p[0], copy);
                    int rows = 0;
                    blocks.each_row_of_taps(b, y, [&](int plane, int at, int tap) {
                        met[rows++] = {blocks.copied_row(b, plane, at), q.panels.row(tap, 0) * lanes};
                    });
                    for (int j = 0; j < piece.there; j += lanes) vector_row(b, piece, y, j, rows);
                }
            });
        }
        /// A row's gradients of one vector of a piece's channels.
        void vector_row(const block_type& b, const piece_type& piece, int y, int j, int rows) const {
            const auto& blocks = q.blocks;
            const float* x[3];
            float* to[3];
            depthwise_row r{x, to, blocks.x.stride * blocks.pixel, blocks.x.dilation * blocks.pixel,
                            c.p[1] + blocks.result_pixel(b, y) * blocks.channels + piece.col + j, blocks.channels, b.x1 - b.x0};
            if (piece.there - j < lanes) {   // copied, so that whole vectors can be read
                for (int i = 0; i < r.columns; ++i) store(gradients + i * lanes, load(r.dy + i * r.dy_step, piece.there - j));
                r.dy = gradients, r.dy_step = lanes;
            }
            const int k = blocks.x.k;
            float* const first = sums + (piece.col + j) * q.panels.rows();
            for (int i = 0, several = 0; i < rows; i += several) {
                several = k <= most_of_three_rows && rows - i >= 3 ? 3 : 1;
                for (int n = 0; n < several; ++n) x[n] = copy + met[i + n].source + j, to[n] = first + met[i + n].weights;
                several == 3 ? add<3>(r, k) : add<1>(r, k);
            }
        }
        template <int R>
        static void add(const depthwise_row& r, int k) {
            if constexpr (R == 3) depthwise_sum_of<3>(k, indices<most_of_three_rows>{})(r);
            else
                for (int i = 0; i < k; i += most_depthwise_taps) {
                    const float* const x[] = {r.x[0] + i * r.tap_step};
                    float* const to[] = {r.sums[0] + i * lanes};
                    depthwise_row piece = r;
                    piece.x = x, piece.sums = to;
                    depthwise_sum_of<1>(std::min(k - i, most_depthwise_taps), indices<most_depthwise_taps>{})(piece);
                }
        }
    };

    static void run(const call& c) {
        worker w(c);
        auto& blocks = w.q.blocks;
        blocks.share_among(c.m, c.parts);
        const std::int64_t n = blocks.count(c.m), end = share(n, c.part + 1, c.parts);
        for (std::int64_t i = share(n, c.part, c.parts); i < end; ++i) w.block(blocks.at(i));
    }
    static void finish(const call& c) {
        const plan q(c.e);
        const std::int64_t rows = q.panels.rows(), end = share(rows, c.part + 1, c.parts);
        for (std::int64_t row = share(rows, c.part, c.parts); row < end; ++row)
            for (int j = 0; j < q.blocks.channels; j += lanes) {
                const int n = std::min(lanes, q.blocks.channels - j);
                const float* from = c.scratch + j * rows + row * lanes;
                vf v = load(from);
                for (int k = 1; k < c.parts; ++k) v += load(from + k * q.sums);
                if (n == lanes) Body::vector(v, row * q.blocks.channels + j, row, j, c);
                else Body::vector(v, n, row * q.blocks.channels + j, row, j, c);
            }
    }
};

template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 2, X...> { using type = depthwise_weight_sums<Body>; };

} // namespace sinter::cpu
