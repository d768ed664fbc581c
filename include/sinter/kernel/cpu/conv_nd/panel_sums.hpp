// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/conv_nd/channel_panels.hpp>
#include <sinter/kernel/cpu/vector/simd.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Weights' gradients are summed as panels of weights lie, by each part apart; the scratch space
/// begins with the parts' sums. Hands this call's share of them, added in the parts' order, to the
/// body: off in dw, row = tap and channel that it sees, col = channel.
template <class Body, bool Narrow>
void finish_panels(const channel_panels<Narrow, false>& p, const call& c) {
    const std::int64_t end = share(p.rows(), c.part + 1, c.parts);
    for (std::int64_t row = share(p.rows(), c.part, c.parts); row < end; ++row)
        for (int u = 0; u < p.units(); ++u)
            for (int j = 0; j < p.columns(); j += lanes) {
                const int whole = j / p.panel * p.panel, n = std::min(lanes, p.columns() - j),
                          col = u * p.columns() + j;
                const float* from =
                    c.scratch + u * p.unit_floats() + whole * p.rows() + row * p.width(whole) + j - whole;
                vf v = load(from);
                for (int k = 1; k < c.parts; ++k) v += load(from + k * p.floats());
                const std::int64_t off = row * p.results() + col;
                if (n == lanes) Body::vector(v, off, row, col, c);
                else Body::vector(v, n, off, row, col, c);
            }
}

} // namespace sinter::cpu
