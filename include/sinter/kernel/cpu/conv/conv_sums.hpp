// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>

#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/panels.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Sums of a packed matrix [Depth][N] at the beginning of the scratch space: partial ones, a copy
/// for each part, or one copy of which the parts have made different pieces.
template <int Depth, int N, class Body, bool Partial = true>
struct conv_sums {
    static constexpr int copies(int parts) { return Partial ? parts : 1; }
    static constexpr int panel = 2 * lanes, whole = N / panel, rest = N % panel;
    static constexpr std::int64_t floats = round_up(panel_floats(Depth, N, lanes), 16);

    /// This part's sums, set to zero.
    static float* clear(const call& c) {
        float* sum = c.scratch + c.part * floats;
        std::fill_n(sum, floats, 0.f);
        return sum;
    }

    /// One vector: the parts in their order, then the body. Lanes beyond column N may hold anything
    /// until here.
    template <int Valid>
    static SINTER_INLINE void emit(std::int64_t off, std::int64_t row, int col, const call& c) {
        vf v = load(c.scratch + off);
        for (int p = 1; p < copies(c.parts); ++p) v += load(c.scratch + p * floats + off);
        if constexpr (Valid < lanes) v = select(lane_numbers() < splat(Valid), v, zero());
        Body::vector(v, off, row, col, c);
    }

    /// Adds the parts and hands the body the sums, cut by rows.
    static void finish(const call& c) {
        const std::int64_t first = share(Depth, c.part, c.parts), last = share(Depth, c.part + 1, c.parts);
        for (int p = 0; p < whole; ++p)
            for (std::int64_t r = first; r < last; ++r)
                for (int j = 0; j < panel; j += lanes)
                    emit<lanes>(std::int64_t{p} * panel * Depth + r * panel + j, r, p * panel + j, c);
        if constexpr (rest > 0) {
            constexpr int vectors = (rest + lanes - 1) / lanes;
            for (std::int64_t r = first; r < last; ++r)
                unroll<vectors>([&](auto j) SINTER_ALWAYS {
                    emit<std::min(lanes, rest - j * lanes)>(std::int64_t{whole} * panel * Depth +
                                                                (r * vectors + j) * lanes,
                                                            r, whole * panel + j * lanes, c);
                });
        }
    }
};

} // namespace sinter::cpu
