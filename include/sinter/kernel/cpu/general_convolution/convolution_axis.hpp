// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/convolution.hpp>

namespace sinter::cpu {

/// One axis of a convolution, seen from what a kernel computes. Forward, those are the places of the window, and each meets inputs;
/// Backward (the input gradient), inputs, each of which meets the places that saw it. What is met is called a source.
template <bool Backward>
struct convolution_axis : sliding {
    constexpr explicit convolution_axis(const sliding& s) : sliding(s) {}

    constexpr int results() const { return Backward ? extent : out; }
    constexpr int sources() const { return Backward ? out : extent; }
    /// Results so far apart meet sources through the same taps, `step` sources apart.
    constexpr int phases() const { return Backward ? stride : 1; }
    constexpr int step() const { return Backward ? 1 : stride; }

    /// The source that result r meets through a tap, in the padding maybe; is there one at all?
    constexpr bool meets(int r, int tap, int& source) const {
        const int at = Backward ? r + before - tap * dilation : r * stride - before + tap * dilation;
        source = Backward ? quotient(at, stride) : at;
        return !Backward || source * stride == at;
    }
    /// The first and the last source that result r may meet, in the padding maybe; neither falls from one result to the next.
    constexpr int lowest(int r) const {
        return Backward ? -quotient((k - 1) * dilation - r - before, stride) : r * stride - before;
    }
    constexpr int highest(int r) const {
        return Backward ? quotient(r + before, stride) : r * stride - before + (k - 1) * dilation;
    }
    /// The most sources from the lowest to the highest that n neighbouring results meet, and the most results that meet no more.
    constexpr int most_met(int n) const {
        return Backward ? (n - 1 + (k - 1) * dilation) / stride + 1 : (n - 1) * stride + reach();
    }
    constexpr int most_meeting(int n) const {
        return Backward ? n * stride - (k - 1) * dilation : n < reach() ? 0 : (n - reach()) / stride + 1;
    }

private:
    static constexpr int quotient(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }   ///< rounded down
};

} // namespace sinter::cpu
