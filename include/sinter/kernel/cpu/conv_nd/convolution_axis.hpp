// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/ops/convolution.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// One axis of a convolution, seen from what a kernel computes. Forward, those are the places of
/// the window, and each overlaps inputs; Backward (the input gradient), inputs, each of which
/// overlaps the places that saw it. What a window overlaps is called a source.
template <bool Backward>
struct convolution_axis : sliding {
    constexpr explicit convolution_axis(const sliding& s) : sliding(s) {}

    constexpr int results() const { return Backward ? extent : out; }
    constexpr int sources() const { return Backward ? out : extent; }
    /// Results so far apart overlap sources through the same taps, `step` sources apart.
    constexpr int phases() const { return Backward ? stride : 1; }
    constexpr int step() const { return Backward ? 1 : stride; }

    /// The source that result r overlaps through a tap, in the padding maybe; is there one at all?
    constexpr bool overlaps(int r, int tap, int& source) const {
        const int at = Backward ? r + before - tap * dilation : r * stride - before + tap * dilation;
        source = Backward ? quotient(at, stride) : at;
        return !Backward || source * stride == at;
    }
    /// The first and the last source that result r may overlap, in the padding maybe; neither falls
    /// from one result to the next.
    constexpr int lowest(int r) const {
        return Backward ? -quotient((k - 1) * dilation - r - before, stride) : r * stride - before;
    }
    constexpr int highest(int r) const {
        return Backward ? quotient(r + before, stride) : r * stride - before + (k - 1) * dilation;
    }
    /// The most sources from the lowest to the highest that n neighbouring results overlap, and the
    /// most results that overlap no more.
    constexpr int most_overlapped(int n) const {
        return Backward ? (n - 1 + (k - 1) * dilation) / stride + 1 : (n - 1) * stride + reach();
    }
    constexpr int most_overlapping(int n) const {
        return Backward ? n * stride - (k - 1) * dilation : n < reach() ? 0 : (n - reach()) / stride + 1;
    }
    /// Of `width` sources from `from` on, which may lie in the padding: how many lie before the
    /// first that is there, and how many are.
    struct sources_there {
        int before, n;
    };
    constexpr sources_there there(int from, int width) const {
        const int first = std::clamp(-from, 0, width);
        return {first, std::clamp(sources() - from - first, 0, width - first)};
    }

private:
    static constexpr int quotient(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }   ///< rounded down
};

/// f(plane, row, row of taps): all rows of sources that the results of row `ry` in plane `rz`
/// overlap, those that are there.
template <bool Backward, class F>
void each_row_of_taps(const convolution_axis<Backward>& z, const convolution_axis<Backward>& y, int rz, int ry, F f) {
    for (int kz = 0, plane = 0; kz < z.k; ++kz)
        if (z.overlaps(rz, kz, plane) && plane >= 0 && plane < z.sources())
            for (int ky = 0, row = 0; ky < y.k; ++ky)
                if (y.overlaps(ry, ky, row) && row >= 0 && row < y.sources()) f(plane, row, kz * y.k + ky);
}

} // namespace sinter::cpu
