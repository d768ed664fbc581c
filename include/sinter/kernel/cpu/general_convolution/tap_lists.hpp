// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/cpu/general_convolution/channel_panels.hpp>
#include <sinter/kernel/cpu/general_convolution/tap_tile.hpp>

namespace sinter::cpu {

/// Which taps a convolution's results meet, in a part's scratch space: rows of taps, those of the row of results that is computed, and the
/// taps of the last axis, for each phase of a row's results, which are the same for all.
template <bool Backward>
struct tap_lists {
    met_tap *rows, *taps;
    std::int32_t* first;   ///< of each phase, among `taps`
    bool together;         ///< a row's taps lie one behind the other, as their sources do: one entry stands for all

    static constexpr std::int64_t floats(const convolution_extents& c) {
        const int phases = convolution_axis<Backward>(c.axis[2]).phases();
        return round_up(4 * (std::int64_t{c.axis[0].k} * c.axis[1].k + c.axis[2].k) + phases + 1, 16);
    }
    template <bool Narrow>
    tap_lists(float* room, const channel_panels<Narrow, Backward>& panels, std::int64_t pixel)
        : rows(reinterpret_cast<met_tap*>(room)), taps(rows + panels.x.axis[0].k * panels.x.axis[1].k),
          first(reinterpret_cast<std::int32_t*>(taps + panels.x.axis[2].k)) {
        const convolution_axis<Backward> x(panels.x.axis[2]);
        together = x.dilation == 1 && x.phases() == 1;
        int n = 0;
        for (int p = 0; p < x.phases(); ++p) {
            first[p] = n;
            for (int k = 0, at = 0; k < x.k; ++k)
                if (x.meets(p, k, at)) taps[n++] = {(at - x.lowest(0)) * pixel, panels.row(0, k)};
        }
        first[x.phases()] = n;
        if (together) taps[0] = {0, 0}, first[1] = 1;
    }
    /// Those of results of a phase, which meet `row_count` rows.
    met_taps of_phase(int phase, int row_count, std::int64_t depth, std::int64_t term_step) const {
        return {rows, row_count, taps + first[phase], first[phase + 1] - first[phase], depth, term_step};
    }
};

} // namespace sinter::cpu
