// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <string>
#if SINTER_BODIES
#include <sinter/base/decimal.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY {

/// A linear axis with round numbers at its ends and ticks.
struct axis {
    double low = 0, high = 1, step = 0.2;

    /// The smallest such axis that holds [low, high] with about `ticks` steps of 1, 2 or 5 times a
    /// power of ten. Values that are all the same get margin on either side.
    SINTER_APART static axis around(double low, double high, int ticks);
    int ticks() const { return static_cast<int>((high - low) / step + 1.5); }
    double tick(int i) const { return low + i * step; }
    /// Tick i in as many decimals as the step needs.
    SINTER_APART std::string label(int i) const;
    double share(double value) const { return (value - low) / (high - low); }
};

#if SINTER_BODIES
SINTER_APART axis axis::around(double low, double high, int ticks) {
    if (!(low <= high)) return {};   // nothing to show, or NaN
    low = low < -1e300 ? -1e300 : low;   // so that differences stay finite
    high = high > 1e300 ? 1e300 : high;
    if (low == high) {
        const double margin = low != 0 ? 0.1 * __builtin_fabs(low) : 1;
        low -= margin, high += margin;
    }
    const double raw = (high - low) / ticks, power = __builtin_pow(10, __builtin_floor(__builtin_log10(raw)));
    const double digit = raw / power;
    const double step = power * (digit <= 1.001 ? 1 : digit <= 2.001 ? 2 : digit <= 5.001 ? 5 : 10);
    // A hair of slack, so that 0.3 is not lifted to 0.4 by its last bit.
    return {step * __builtin_floor(low / step + 1e-9), step * __builtin_ceil(high / step - 1e-9), step};
}

SINTER_APART std::string axis::label(int i) const {
    const double power = __builtin_floor(__builtin_log10(step) + 1e-9), value = tick(i);
    const double shown = __builtin_fabs(value) < 1e-9 * step ? 0 : value;   // not "-0"
    if (power < -6 || power > 6) return base::general_text(shown, 3);
    return base::fixed_text(shown, power < 0 ? static_cast<int>(-power) : 0);
}
#endif

} // namespace sinter
