// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/source_copies.hpp>
#include <sinter/kernel/cpu/conv_nd/tap_lists.hpp>
#include <sinter/kernel/cpu/gemm/epilogue.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>

/// Convolutions of any window and any number of groups, and their input gradients. All extents are
/// told at run time (ops/convolution.hpp), so that all of them share these kernels; weights lie
/// plain, [taps][CI / groups][CO].
namespace sinter::inline SINTER_TARGET::cpu {

/// Operands forward: x, weights; c.m = pixels of all results. Backward: dy, weights; c.m = pixels
/// of all images. Body: off in the result, row = pixel, col = channel. `Narrow`: groups have fewer
/// results than a vector, so that a vector has those of several. This is what any body shares: it
/// is compiled once.
template <bool Narrow, bool Backward>
struct convolution_sums {
    /// What all parts know: how channels and results are cut, and where in the scratch space what
    /// lies, the panels of weights first.
    struct plan {
        channel_panels<Narrow, Backward> panels;
        std::int64_t pixel, result;   ///< floats of a source in a strip's copy, and of a result that waits for the body
        result_strips<Backward> strips;
        std::int64_t lists, copy, row;    ///< floats of a part's lists, copied sources, and one row of results

        constexpr explicit plan(const std::int64_t* e)
            : panels{convolution_extents(e)}, pixel(panels.pixel()),
              result(round_up(panels.results() + lanes - 1, lanes)),   // a panel may write beyond its channels
              strips(panels.x, pixel, result, panels.budget(), tap_tile_rows<Narrow>),
              lists(tap_lists<Narrow, Backward>::floats(panels.x)), copy(round_up(strips.pixels() * pixel, 16)),
              row(strips.covered() * result) {}
        constexpr std::int64_t part_floats() const { return lists + copy + strips.rows * row; }
    };
    static constexpr std::int64_t scratch(const std::int64_t* e, int parts, std::int64_t) {
        const plan q(e);
        return q.panels.floats() + parts * q.part_floats();
    }
    static void prepare(const call& c) { plan(c.e).panels.write(c.p[conv_operand::weights], c.scratch, c); }

    /// A part's work.
    struct worker {
        const plan& q;
        const call& c;
        float* const workspace;
        tap_lists<Narrow, Backward> lists;
        float *const copy, *const results;

        worker(const plan& q_, const call& c_)
            : q(q_), c(c_), workspace(c.scratch + q.panels.floats() + first_part(c) * q.part_floats()),
              lists(workspace, q.panels, q.pixel, q.panels.term_step()), copy(workspace + q.lists),
              results(copy + q.copy) {}

        void strip(const result_strip& s, const epilogue& f) {
            const auto& p = q.panels;
            if (p.x.groups > 1)
                read_sources(q.strips, s, c.p[conv_operand::source],
                             p.sources());
            for (int u = 0; u < p.units(); ++u) {
                if (!Narrow)
                    copy_sources(q.strips, s, c.p[conv_operand::source], p.sources(), u * p.depth(), p.depth(), copy);
                for (int j = 0; j < p.columns(); j += p.panel) {
                    if (Narrow)
                        spread_sources(q.strips, s,
                                       spread_channels(c.p[conv_operand::source], p.sources(), p.depth(),
                                                       p.results() / p.x.groups, j, std::min(lanes, p.columns() - j)),
                                       copy);
                    const float* const w = c.scratch + u * p.unit_floats() + j * p.rows();
                    const int col = u * p.columns() + j;
                    for (int y = s.y0; y < s.y1; ++y) {
                        lists.list_rows(q.strips, s, y, [&](int plane, int row) {
                            return q.strips.copied_row(s, plane, row) * q.pixel;
                        });
                        lists.sum_row(s.columns(), copy, w, p.width(j), results + (y - s.y0) * q.row + col, q.result);
                        if (f.prefetch) prefetch_body(s, y, col, std::min(p.width(j), p.columns() - j), f);
                    }
                }
            }
            finish_rows(s, f);
        }

    private:
        /// Prefetches what the body reads in a row of a strip, n of all channels' share of it after
        /// these channels' sums.
        void prefetch_body(const result_strip& s, int y, int col, int n, const epilogue& f) const {
            const std::int64_t row = q.strips.first_result(s, y) * q.panels.results();
            f.prefetch({nullptr, 1, s.columns() * n, 0, row + std::int64_t{s.columns()} * col, 0, 0, 0}, c);
        }
        /// Hands a strip's results to the body row by row: so they, and what it reads, are touched
        /// in the order in which they lie in memory.
        void finish_rows(const result_block& b, const epilogue& f) const {
            const int channels = q.panels.results();
            for (int y = b.y0; y < b.y1; ++y) {
                const std::int64_t first = q.strips.first_result(b, y);
                f.finish({results + (y - b.y0) * q.row, b.columns(), channels, static_cast<int>(q.result),
                          first * channels, channels, first, 0},
                         c);
            }
        }
    };

    static void run(const call& c, const epilogue& f) {
        plan q(c.e);
        worker w(q, c);
        q.strips.each_of_part(q.strips.images(c.m), c,
                              [&](const result_block& b) { w.strip(q.strips.strip_of(b), f); });
    }
};
template <bool Narrow, bool Backward, class Body>
struct convolution_results : convolution_sums<Narrow, Backward> {
    static void run(const call& c) {
        static constexpr epilogue f = epilogue_of<Body>();
        convolution_sums<Narrow, Backward>::run(c, f);
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
