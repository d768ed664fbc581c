// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/channel_panels.hpp>
#include <sinter/kernel/cpu/conv_nd/result_blocks.hpp>
#include <sinter/kernel/cpu/conv_nd/tap_tile.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Which taps a convolution's results overlap, in a part's scratch space: rows of taps, those of
/// the row of results that is computed, and the taps of the last axis, for each phase of a row's
/// results, which are the same for all.
template <bool Narrow, bool Backward>
class tap_lists {
public:
    static constexpr std::int64_t floats(const convolution_extents& c) {
        const int phases = convolution_axis<Backward>(c.axis[2]).phases();
        return round_up(4 * (std::int64_t{c.axis[0].k} * c.axis[1].k + c.axis[2].k) + phases + 1, 16);
    }
    /// Of sources whose pixels take `pixel` floats, and a pixel's terms `term_step`.
    tap_lists(float* workspace, const channel_panels<Narrow, Backward>& panels, std::int64_t pixel,
              std::int64_t term_step)
        : panels_(panels), x_(panels.x.axis[2]), pixel_(pixel), term_step_(term_step),
          rows_(reinterpret_cast<overlapped_tap*>(workspace)), taps_(rows_ + panels.x.axis[0].k * panels.x.axis[1].k),
          first_(reinterpret_cast<std::int32_t*>(taps_ + x_.k)), together_(x_.dilation == 1 && x_.phases() == 1) {
        int n = 0;
        for (int p = 0; p < x_.phases(); ++p) {
            first_[p] = n;
            for (int k = 0, at = 0; k < x_.k; ++k)
                if (x_.overlaps(p, k, at)) taps_[n++] = {(at - x_.lowest(0)) * pixel, panels.row(0, k)};
        }
        first_[x_.phases()] = n;
        if (together_) taps_[0] = {0, 0}, first_[1] = 1;
    }
    /// Lists what results of a row overlap; place(plane, row): where the copy of that row of
    /// sources begins.
    template <class F>
    void list_rows(const result_blocks<Backward>& all, const result_block& b, int row, F place) {
        row_count_ = 0;
        each_row_of_taps(all.z, all.y, b.z, row, [&](int plane, int source_row, int taps) {
            rows_[row_count_++] = {place(plane, source_row), panels_.row(taps, Backward ? x_.k - 1 : 0)};
        });
    }
    /// Sums a listed row's `columns` results of a panel of that width, from the copies of what they
    /// overlap. A result's sums are written every `result` floats.
    void sum_row(int columns, const float* copy, const float* w, int width, float* to, std::int64_t result) const {
        const int phases = x_.phases();
        const std::int64_t step = x_.step() * pixel_, depth = std::int64_t{panels_.depth()} * (together_ ? x_.k : 1);
        for (int phase = 0; phase < phases && phase < columns; ++phase, to += result) {
            const row_tiles tiles((columns - phase + phases - 1) / phases, tap_tile_rows<Narrow>);
            const tap_tile tile = tap_tile_of<Narrow>(tiles.height, width, together_ && x_.step() == 1 ? x_.k : 1);
            const overlapped_taps taps{rows_, row_count_, taps_ + first_[phase], first_[phase + 1] - first_[phase],
                                       depth, term_step_};
            for (int i = 0; i < tiles.covered(); i += tiles.height)
                tile(to + i * phases * result, phases * result, copy + i * step, step, taps, w);
        }
    }

private:
    const channel_panels<Narrow, Backward> panels_;
    const convolution_axis<Backward> x_;
    const std::int64_t pixel_, term_step_;
    overlapped_tap *const rows_, *const taps_;
    std::int32_t* const first_;   ///< of each phase, among `taps_`
    const bool together_;   ///< a row's taps lie one behind the other, as their sources do: one entry stands for all
    int row_count_ = 0;
};

} // namespace sinter::cpu
