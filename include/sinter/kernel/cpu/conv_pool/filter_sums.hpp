// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Sums of a weights' gradient with lanes along (kx, ci), [CO][KH][vectors][lanes], a copy for each
/// part at the beginning of the scratch space. Lanes behind a row of taps may hold anything.
template <int CI, int CO, int KH, int KW, class Body>
struct filter_sums {
    static constexpr int vectors = (KW * CI + lanes - 1) / lanes,
                         filter = KH * vectors * lanes,   // of one output channel
                         channels = static_cast<int>(round_up(CO, lanes));
    static constexpr std::int64_t floats = round_up(std::int64_t{channels} * filter, 16);

    /// This part's sums, set to zero.
    static float* clear(const call& c) {
        float* sum = c.scratch + c.part * floats;
        std::fill_n(sum, floats, 0.f);
        return sum;
    }

    /// Adds `copies` of the t-th vector of a filter's sums, in their order, for channels o to o +
    /// lanes; transposes (channel, tap) into (tap, channel), and hands the body the sums.
    static void emit(const float* sum, int copies, int o, int t, const call& c) {
        constexpr int panel = 2 * lanes, depth = KH * KW * CI;
        vf s[lanes];
        for (int q = 0; q < lanes; ++q) {
            const float* from = sum + (o + q) * filter + t * lanes;
            s[q] = load(from);
            for (int p = 1; p < copies; ++p) s[q] += load(from + p * floats);
        }
        transpose_lanes(s);
        for (int q = 0; q < lanes; ++q) {
            const int in_row = t % vectors * lanes + q, r = t / vectors * (KW * CI) + in_row;
            if (in_row < KW * CI) Body::vector(s[q], panel_offset(depth, CO, r, o, panel, lanes), r, o, c);
        }
    }
    /// This part's share of the sums of all parts.
    static void finish(const call& c) {
        for (int o = 0; o < channels; o += lanes)
            for (int t = static_cast<int>(share(KH * vectors, c.part, c.parts));
                 t < share(KH * vectors, c.part + 1, c.parts); ++t)
                emit(c.scratch, c.parts, o, t, c);
    }
};

} // namespace sinter::cpu
