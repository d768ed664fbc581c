// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/conv_nd/convolution_axis.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// How a kernel of windows divides the channels of its results into panels, and its weights as it
/// reads them: panel by panel, row by row, a row for each tap and channel of the sources that are
/// summed; what fills a panel's last vector is zero. `Narrow`: panels are vectors of channels
/// whatever their groups; else two vectors of one group, or what the group has left.
template <bool Narrow, bool Backward>
struct channel_panels {
    static constexpr int panel = Narrow ? lanes : 2 * lanes;
    convolution_extents x;

    constexpr int sources() const { return Backward ? x.outputs : x.inputs; }
    constexpr int results() const { return Backward ? x.inputs : x.outputs; }
    constexpr int depth() const { return sources() / x.groups; }             ///< channels summed for a result
    constexpr int units() const { return Narrow ? 1 : x.groups; }            ///< cut into panels one by one
    constexpr int columns() const { return results() / units(); }            ///< of one
    /// Floats of a source's pixel in a strip's copy: a group's channels, or those that one vector
    /// sees, a vector for each term; and from a term's sources to the next one's.
    constexpr std::int64_t pixel() const { return Narrow ? std::int64_t{depth()} * lanes : depth(); }
    constexpr std::int64_t term_step() const { return Narrow ? lanes : 1; }
    /// About how many floats a strip's copy should take: it stays in the second-level cache, beside
    /// what it is made of where it is larger.
    constexpr std::int64_t budget() const { return Narrow ? 1 << 15 : 1 << 16; }
    constexpr std::int64_t rows() const { return std::int64_t{x.taps()} * depth(); }
    constexpr std::int64_t unit_floats() const { return rows() * round_up(columns(), lanes); }
    constexpr std::int64_t floats() const { return units() * unit_floats(); }

    int width(int j) const { return columns() - j > lanes ? panel : lanes; }
    /// Where the row of a tap, its last axis' tap kx, begins among a panel's. Backward, kx run the
    /// other way: so do the sources.
    std::int64_t row(int row_of_taps, int kx) const {
        const int k = x.axis[2].k;
        return (std::int64_t{row_of_taps} * k + (Backward ? k - 1 - kx : kx)) * depth();
    }

    /// Writes a part's share of them; w are plain, [taps][CI / groups][CO].
    void write(const float* w, float* to, const call& c) const {
        const int k = x.axis[2].k;
        for (std::int64_t t = share(x.taps(), c.part, c.parts); t < share(x.taps(), c.part + 1, c.parts); ++t) {
            const std::int64_t first = row(static_cast<int>(t / k), static_cast<int>(t % k));
            const float* from = w + t * x.group_inputs() * x.outputs;
            for (int u = 0; u < units(); ++u)
                for (int j = 0; j < columns(); j += panel)
                    write_panel(from, u * columns() + j, std::min(width(j), columns() - j), width(j),
                                to + u * unit_floats() + j * rows() + first * width(j));
        }
    }

private:
    /// The rows of one tap: n channels from col on, `w` places.
    void write_panel(const float* from, int col, int n, int w, float* to) const {
        if (!Backward || x.depthwise()) {   // where each channel is by itself, a source's weight is its result's
            for (int d = 0; d < depth(); ++d, to += w) {
                std::memcpy(to, from + std::int64_t{d} * x.outputs + col, 4 * static_cast<std::size_t>(n));
                std::fill(to + n, to + w, 0.f);
            }
        } else if (Narrow) {
            const int inputs = x.group_inputs(), outputs = x.group_outputs();
            for (int d = 0; d < depth(); ++d, to += w)
                for (int i = 0; i < w; ++i)
                    to[i] = i < n
                                ? from[std::int64_t{(col + i) % inputs} * x.outputs + (col + i) / inputs * outputs + d]
                                : 0.f;
        } else {
            from += std::int64_t{col % x.group_inputs()} * x.outputs + col / x.group_inputs() * x.group_outputs();
            for (int i = 0; i < w; i += lanes)
                transpose_matrix(from + std::int64_t{i} * x.outputs, x.outputs, std::min(n - i, lanes), depth(), to + i,
                                 w, false);
        }
    }
};

} // namespace sinter::cpu
