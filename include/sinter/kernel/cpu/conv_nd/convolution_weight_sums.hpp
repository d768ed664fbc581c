// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/panel_sums.hpp>
#include <sinter/kernel/cpu/conv_nd/source_copies.hpp>
#include <sinter/kernel/cpu/conv_nd/weight_tile.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

/// Gradients of the weights of convolutions of any window and any number of groups.
namespace sinter::inline SINTER_TARGET::cpu {

/// Operands: x, dy; c.m = images. The parts' sums, which any body shares.
template <bool Narrow>
struct convolution_weight_parts {
    static constexpr int phases = 2;

    struct plan {
        channel_panels<Narrow, false> panels;
        std::int64_t pixel;                   ///< floats of a source in a strip's copy
        result_strips<false> strips;
        std::int64_t sums, copy, gradients;   ///< floats of a part's sums, copied sources and copied gradients

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, pixel(panels.pixel()),
              strips(panels.x, pixel, panels.panel, panels.budget(), 1), sums(panels.floats()),
              copy(round_up(strips.pixels() * pixel + most_single_sums, 16)),
              gradients(std::int64_t{strips.rows} * strips.columns * panels.panel) {}
        constexpr std::int64_t workspace() const { return copy + gradients; }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return parts * (q.sums + q.workspace());
    }

    struct worker {
        const plan& q;
        const call& c;
        float *const sums, *const copy, *const gradients;

        worker(const plan& q_, const call& c_)
            : q(q_), c(c_), sums(c.scratch + c.part * q.sums),
              copy(c.scratch + c.parts * q.sums + first_part(c) * q.workspace()), gradients(copy + q.copy) {
            std::fill_n(sums, q.sums, 0.f);
        }

        void strip(const result_strip& s) const {
            const auto& p = q.panels;
            const auto& z = q.strips.z;
            const int ky = q.strips.y.k;
            if (p.x.groups > 1)
                read_sources(q.strips, s, c.p[conv_weight_gradient_operand::x],
                             p.sources());
            read_results(q.strips, s, c.p[conv_weight_gradient_operand::dy], p.results());
            for (int u = 0; u < p.units(); ++u) {
                if (!Narrow)
                    copy_sources(q.strips, s, c.p[conv_weight_gradient_operand::x], p.sources(), u * p.depth(),
                                 p.depth(), copy);
                for (int j = 0; j < p.columns(); j += p.panel) {
                    const int col = u * p.columns() + j, width = p.width(j), there = std::min(width, p.columns() - j);
                    if (Narrow)
                        spread_sources(q.strips, s,
                                       {c.p[conv_weight_gradient_operand::x], p.sources(), p.depth(),
                                        p.results() / p.x.groups, col, there},
                                       copy);
                    const summed_rows r = gradients_of(s, col, there, width);
                    float* const to = sums + u * p.unit_floats() + j * p.rows();
                    for (int kz = 0, plane = 0; kz < z.k; ++kz)
                        if (z.overlaps(s.z, kz, plane) && plane >= 0 && plane < z.sources())
                            for (int k = 0; k < ky; ++k)
                                row_of_taps(s, plane, k, r, to + p.row(kz * ky + k, 0) * width, width);
                }
            }
        }

    private:
        /// The strip's gradients of a panel's channels: where they lie, or copied where they do not
        /// fill the panel's vectors.
        summed_rows gradients_of(const result_strip& s, int col, int there, int width) const {
            const int channels = q.panels.results(), columns = s.columns();
            const float* from = c.p[conv_weight_gradient_operand::dy] + q.strips.first_result(s, s.y0) * channels + col;
            const std::int64_t row = std::int64_t{q.strips.x.results()} * channels;
            summed_rows r{};
            r.columns = columns;
            r.dy = from, r.dy_step = channels, r.dy_row_step = row;
            if (there == width) return r;
            r.dy = gradients, r.dy_step = width, r.dy_row_step = std::int64_t{columns} * width;
            float* to = gradients;
            for (int y = s.y0; y < s.y1; ++y, from += row)
                for (int i = 0; i < columns; ++i, to += width)
                    for (int j = 0; j < width; j += lanes)
                        store(to + j, there - j >= lanes ? load(from + i * channels + j)
                                                         : load(from + i * channels + j, there - j));
            return r;
        }
        /// Adds what one row of taps sees, its sources in rows of `plane`, to its rows of sums. r:
        /// the strip's gradients.
        void row_of_taps(const result_strip& s, int plane, int ky, summed_rows r, float* to, int width) const {
            const auto& st = q.strips;
            int first = s.y0, last = s.y1, at = 0;
            const auto outside = [&](int y) { return st.y.overlaps(y, ky, at), at < 0 || at >= st.y.sources(); };
            while (first < last && outside(first)) ++first;
            while (last > first && outside(last - 1)) --last;
            if (first == last) return;
            st.y.overlaps(first, ky, at);
            const float* const x = copy + st.copied_row(s, plane, at) * q.pixel;
            r.step = st.x.step() * q.pixel;
            r.row_step = std::int64_t{st.y.step()} * st.width * q.pixel;
            r.term_step = q.panels.term_step();
            r.dy += (first - s.y0) * r.dy_row_step;
            r.rows = last - first;
            const bool together = st.x.dilation == 1;   // neighbouring taps see what lies one behind the other
            const int runs = together ? 1 : st.x.k, terms = q.panels.depth() * (together ? st.x.k : 1);
            const int size = equal_piece(terms, Narrow          ? most_lane_sums
                                                : width > lanes ? most_wide_sums
                                                                : most_single_sums);
            for (int k = 0; k < runs; ++k, to += std::int64_t{terms} * width)
                for (int i = 0; i < terms; i += size) {
                    const int count = std::min(size, terms - i);
                    r.x = x + k * st.x.dilation * q.pixel + i * r.term_step;
                    r.sums = to + std::int64_t{i} * width;
                    tile_of(count, width)(r, count);
                }
        }
        static weight_tile tile_of(int count, int width) {
            if constexpr (Narrow) return lane_tile_of(count);
            else return broadcast_tile_of(count, width);
        }
    };

    static void run(const call& c) {
        plan q(c.e);
        const worker w(q, c);
        q.strips.each_of_part(c.m, c, [&](const result_block& b) { w.strip(q.strips.strip_of(b)); });
    }
};
/// Body: as finish_panels hands them over.
template <bool Narrow, class Body>
struct convolution_weight_sums : convolution_weight_parts<Narrow> {
    static void finish(const call& c) {
        finish_panels<Body>(channel_panels<Narrow, false>{convolution_extents(c.e)}, c);
    }
};

template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 0, X...> { using type = convolution_weight_sums<false, Body>; };
template <class Body, int... X>
struct nest<op::convolution_weight_gradient, Body, 1, X...> { using type = convolution_weight_sums<true, Body>; };

} // namespace sinter::cpu
