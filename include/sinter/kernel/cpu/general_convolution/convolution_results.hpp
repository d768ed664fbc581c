// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/general_convolution/source_copies.hpp>
#include <sinter/kernel/cpu/general_convolution/tap_lists.hpp>
#include <sinter/kernel/cpu/product/finish.hpp>
#include <sinter/kernel/cpu/walk/nest.hpp>

/// Convolutions of any window and any number of groups, and their input gradients. All extents are told at run time
/// (ops/convolution.hpp), so that all of them share these kernels; weights lie plain, [taps][CI / groups][CO].
namespace sinter::cpu {

/// Forward: p[0] = x, p[1] = weights; c.m = pixels of all results. Backward: p[0] = dy; c.m = pixels of all images. Body: off in the
/// result, row = pixel, col = channel. `Narrow`: groups have fewer results than a vector, so that a vector has those of several.
template <bool Narrow, bool Backward, class Body>
struct convolution_results {
    /// What all parts know: how channels and results are cut, and where in the scratch space what lies, the panels of weights first.
    struct plan {
        convolution_extents x;
        channel_panels<Narrow, Backward> panels{x};
        std::int64_t pixel, result;       ///< floats of a source in a strip's copy, and of a result that waits for the body
        result_strips<Backward> strips;
        std::int64_t lists, copy, row;    ///< floats of a part's lists, copied sources, and one row of results

        constexpr explicit plan(const std::int64_t* e)
            : x(e), pixel(panels.pixel()), result(round_up(panels.results() + lanes - 1, lanes)),   // a panel may write beyond its channels
              strips(x, pixel, result, panels.budget(), tap_tile_rows<Narrow>),
              lists(tap_lists<Backward>::floats(x)), copy(round_up(strips.pixels() * pixel, 16)), row(row_results() * result) {}
        constexpr std::int64_t row_results() const {
            const int phases = strips.x.phases();
            return std::int64_t{row_tiles((strips.columns + phases - 1) / phases, tap_tile_rows<Narrow>).covered()} * phases;
        }
        constexpr std::int64_t part_floats() const { return lists + copy + strips.rows * row; }
        constexpr std::int64_t floats(int parts) const { return panels.floats() + parts * part_floats(); }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) { return plan(e).floats(parts); }

    static void prepare(const call& c) {
        const plan q(c.e);
        q.panels.write(c.p[1], c.scratch, c);
    }

    /// A part's work.
    struct worker {
        plan q;
        const call& c;
        float* const room;
        tap_lists<Backward> lists;
        float *const copy, *const row;

        explicit worker(const call& c_)
            : q(c_.e), c(c_), room(c.scratch + q.panels.floats() + first_part(c) * q.part_floats()),
              lists(room, q.panels, q.pixel), copy(room + q.lists), row(copy + q.copy) {}
        /// Lists the rows of taps that result row y of a strip meets; how many?
        int list_rows(const result_strip& s, int y) const {
            const auto& st = q.strips;
            int n = 0, plane = 0, at = 0;
            for (int kz = 0; kz < st.z.k; ++kz)
                if (st.z.meets(s.z, kz, plane) && plane >= s.za && plane < s.zb)
                    for (int ky = 0; ky < st.y.k; ++ky)
                        if (st.y.meets(y, ky, at) && at >= s.ya && at < s.yb)
                            lists.rows[n++] = {(std::int64_t{plane - s.za} * st.source_rows + at - s.ya) * st.width * q.pixel,
                                               q.panels.row(kz * st.y.k + ky, Backward ? st.x.k - 1 : 0)};
            return n;
        }
        /// One row of a strip's results in a panel of that width and those weights, for which `rows` of taps are listed.
        void panel_row(const result_strip& s, int rows, const float* w, int width, float* to) const {
            const auto& x = q.strips.x;
            const int phases = x.phases();
            const std::int64_t step = x.step() * q.pixel, to_step = phases * q.result;
            for (int phase = 0; phase < phases && s.x0 + phase < s.x1; ++phase, to += q.result) {
                const int n = (s.x1 - s.x0 - phase + phases - 1) / phases;
                const row_tiles tiles(n, tap_tile_rows<Narrow>);
                const tap_tile tile = tap_tile_of<Narrow>(tiles.height, width);
                const met_taps taps =
                    lists.of_phase(phase, rows, std::int64_t{q.panels.depth()} * (lists.together ? x.k : 1), q.panels.term_step());
                for (int i = 0; i < n; i += tiles.height) tile(to + i * to_step, to_step, copy + i * step, step, taps, w);
            }
        }
        /// Hands a row of results to the body: as they, and what it reads, lie in memory.
        void finish_row(const result_strip& s, int y, const float* sums, const finisher& f) const {
            const auto& st = q.strips;
            const std::int64_t pixel = ((s.image * st.z.results() + s.z) * st.y.results() + y) * st.x.results() + s.x0;
            const int channels = q.panels.results();
            f.finish({sums, s.x1 - s.x0, channels, static_cast<int>(q.result), pixel * channels, channels, pixel, 0}, c);
        }
        void strip(const result_strip& s, const finisher& f) const {
            const auto& p = q.panels;
            if (q.x.groups > 1) read_sources(q.strips, s, c.p[0], p.sources());   // of which each panel takes some channels
            for (int u = 0; u < p.units(); ++u) {
                if (!Narrow) copy_sources(q.strips, s, c.p[0], p.sources(), u * p.depth(), p.depth(), copy);
                for (int j = 0; j < p.columns(); j += p.panel) {
                    if (Narrow) spread_sources(q.strips, s, spread_channels(c.p[0], p.sources(), p.depth(), p.results() / q.x.groups, j,
                                                                            std::min(lanes, p.columns() - j)), copy);
                    const float* const w = c.scratch + u * p.unit_floats() + j * p.rows();
                    for (int y = s.y0; y < s.y1; ++y)
                        panel_row(s, list_rows(s, y), w, p.width(j), row + (y - s.y0) * q.row + u * p.columns() + j);
                }
            }
            for (int y = s.y0; y < s.y1; ++y) finish_row(s, y, row + (y - s.y0) * q.row, f);
        }
    };

    static void run(const call& c) {
        static constexpr finisher f = finisher_of<Body>();
        worker w(c);
        auto& strips = w.q.strips;
        const std::int64_t images = c.m / (std::int64_t{strips.z.results()} * strips.y.results() * strips.x.results());
        strips.share_among(images, c.parts);
        const std::int64_t n = strips.count(images), end = share(n, c.part + 1, c.parts);
        for (std::int64_t i = share(n, c.part, c.parts); i < end; ++i) w.strip(strips.at(i), f);
    }
};

template <class Body, int... X>
struct nest<op::convolution, Body, 0, X...> { using type = convolution_results<false, false, Body>; };
template <class Body, int... X>
struct nest<op::convolution, Body, 1, X...> { using type = convolution_results<true, false, Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 0, X...> { using type = convolution_results<false, true, Body>; };
template <class Body, int... X>
struct nest<op::convolution_input_gradient, Body, 1, X...> { using type = convolution_results<true, true, Body>; };

} // namespace sinter::cpu
