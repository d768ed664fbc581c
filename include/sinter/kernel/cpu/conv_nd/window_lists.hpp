// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/channel_panels.hpp>
#include <sinter/kernel/cpu/conv_nd/result_blocks.hpp>
#include <sinter/kernel/cpu/conv_nd/window_tile.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// What a depthwise convolution's results overlap, in a part's scratch space: rows of sources,
/// those of the row of results that is computed, and windows of the last axis' taps, for each phase
/// of a row's results, which are the same for all.
template <class Sums, bool Backward>
class window_lists {
    struct phase_windows {
        int first, count;
        int taps;              ///< of a window
        int step;              ///< from result to result, in columns that windows overlap
        int gap;               ///< from such a column to the next one, in all columns
        int tap_step;          ///< floats from a tap's weights to the next one's
        std::int64_t
            highest;   ///< floats from a row's begin to the last column that its first tile, a whole one, would overlap
        window_tiles<Sums> tiles;
        constexpr int columns(int results) const { return (results - 1) * step + taps; }
    };

    template <class T>
    static constexpr std::int64_t size = sizeof(T);

public:
    static constexpr std::int64_t floats(const convolution_extents& c) {
        const std::int64_t rows = std::int64_t{c.axis[0].k} * c.axis[1].k;
        const int phases = convolution_axis<Backward>(c.axis[2]).phases();
        return round_up(
            (rows * size<overlapped_row> + c.axis[2].k * size<overlapped_window> + phases * size<phase_windows>) / 4,
            16);
    }
    window_lists(float* workspace, const channel_panels<true, Backward>& panels, std::int64_t images)
        : panels_(panels), x_(panels.x.axis[2]), channels_(panels.x.inputs),
          end_(images * all_sources(panels.x) * channels_ - round_up(channels_, lanes)),
          rows_(reinterpret_cast<overlapped_row*>(workspace)),
          windows_(reinterpret_cast<overlapped_window*>(rows_ + panels.x.axis[0].k * panels.x.axis[1].k)),
          phases_(reinterpret_cast<phase_windows*>(windows_ + x_.k)) {
        for (int p = 0, n = 0; p < x_.phases(); ++p) n = list_phase(p, n);
    }

    /// Lists what results of a row overlap.
    void list_rows(const result_blocks<Backward>& all, const result_block& b, int row) {
        row_count_ = 0;
        highest_row_ = 0;
        each_row_of_taps(all.z, all.y, b.z, row, [&](int plane, int source_row, int taps) {
            rows_[row_count_++] = {all.first_source(b, plane, source_row) * channels_,
                                   panels_.row(taps, Backward ? x_.k - 1 : 0) * lanes};
            highest_row_ = std::max(highest_row_, rows_[row_count_ - 1].source);
        });
    }
    /// Sums the tiles of a listed row's results [first, end), of which `results` has room for the
    /// first, and for each `step` floats, up to `results_end`. before(lines, phase, n): adds what a
    /// tile of n results of a phase is to prefetch.
    template <class F>
    void each_tile(int first, int end, const float* x, typename Sums::weights* w, typename Sums::results* results,
                   std::int64_t step, typename Sums::results* results_end, F before) {
        const int phases = x_.phases(), whole_vectors = channels_ / lanes, vectors = (channels_ + lanes - 1) / lanes;
        for (int phase = 0; phase < phases; ++phase) {
            const phase_windows& p = phases_[phase];
            overlapped_windows m{rows_,
                                 row_count_,
                                 windows_ + p.first,
                                 p.count,
                                 std::int64_t{p.gap} * channels_,
                                 p.tap_step,
                                 panels_.rows() * lanes,
                                 channels_,
                                 window_results};
            for (int i = first + phase; i < end; i += window_results * phases) {
                m.results = std::min(window_results, (end - i + phases - 1) / phases);
                m.prefetch.clear();
                before(m.prefetch, phase, m.results);
                const int column = i / phases * x_.step();   // from what the first result of a row overlaps
                const bool whole = see(m, p, x_.sources(), column);
                const std::int64_t place = std::int64_t{column} * channels_;
                const float* const from = x + place;
                auto* const of = results + (i - first) * step;
                // The last vector's lanes beyond the channels are the next pixel's, where there is
                // one; what they make nobody reads.
                const bool beyond = highest_row_ + p.highest + place <= end_ &&
                                    results_end - of >= (window_results - 1) * phases * step + vectors * lanes;
                const int careful_from = !whole ? 0 : beyond ? vectors : whole_vectors;
                if (whole) p.tiles.whole(m, from, w, of, phases * step, 0, careful_from);
                if (careful_from < vectors) p.tiles.careful(m, from, w, of, phases * step, careful_from, vectors);
            }
        }
    }

private:
    static constexpr std::int64_t all_sources(const convolution_extents& c) {   ///< of an image
        std::int64_t n = 1;
        for (const sliding& axis : c.axis) n *= convolution_axis<Backward>(axis).sources();
        return n;
    }
    /// Lists the windows of one phase as the n-th ones; gives the number of those that are listed
    /// then.
    int list_phase(int phase, int n) {
        const int first = n;
        int taps = 0, at = 0, last = 0, gap = 1, row[2] = {};   // of the taps that it overlaps, by their sources' order
        const auto tap = [&](int i) { return Backward ? x_.k - 1 - i : i; };
        for (int i = 0; i < x_.k; ++i)
            if (x_.overlaps(phase, tap(i), at)) {
                if (taps == 1) gap = at - last;
                if (taps < 2) row[taps] = i;
                ++taps, last = at;
            }
        const int k = gap == 1 ? window_taps(taps, x_.step()) : 1;
        for (int i = 0, overlapped = 0; i < x_.k; ++i)
            if (x_.overlaps(phase, tap(i), at) && overlapped++ % k == 0)
                windows_[n++] = {std::int64_t{at} * channels_, std::int64_t{i} * lanes, at, 0};
        const int step = k == 1 ? 1 : x_.step(), gap_overlapped = k == 1 ? x_.step() : 1;
        phase_windows& p = phases_[phase];
        p = {first, n - first, k, step, gap_overlapped, (row[1] - row[0]) * lanes, 0, window_tiles<Sums>::of(k, step)};
        for (int i = first; i < n; ++i) p.highest = std::max(p.highest, windows_[i].source);
        p.highest += std::int64_t{p.columns(window_results) - 1} * p.gap * channels_;
        return n;
    }
    /// Notes which columns of sources are there that a tile's results overlap; are all?
    static bool see(const overlapped_windows& m, const phase_windows& p, int sources, int column) {
        const int needed = p.columns(m.results);
        bool all = m.results == window_results;
        for (overlapped_window* t = m.windows; t < m.windows + m.window_count; ++t) {
            const int at = t->column + column, first = at < 0 ? (p.gap - 1 - at) / p.gap : 0;
            const int end = at + (needed - 1) * p.gap < sources ? needed : (sources - at + p.gap - 1) / p.gap;
            t->columns = first < end ? (1u << end) - (1u << first) : 0;
            all = all && first == 0 && end == needed;
        }
        return all;
    }

    const channel_panels<true, Backward> panels_;
    const convolution_axis<Backward> x_;
    const int channels_;
    const std::int64_t end_;   ///< the last place from which a pixel's channels may be read as whole vectors
    overlapped_row* const rows_;
    overlapped_window* const windows_;
    phase_windows* const phases_;
    int row_count_ = 0;
    std::int64_t highest_row_ = 0;   ///< of those listed
};

} // namespace sinter::cpu
