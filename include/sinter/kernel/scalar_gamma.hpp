// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cmath>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/host_device.hpp>

/// The first two derivatives of log gamma on one number, which C lacks: the recurrence up to 8,
/// then Stirling's series; below 0 by reflection. Edges as in kernel/cpu/math/gamma.hpp.
namespace sinter::inline SINTER_TARGET::scalar_gamma {

SINTER_HOST_DEVICE double digamma(double x) {
    constexpr double pi = 3.14159265358979323846;
    if (x == 0) return ::copysign(static_cast<double>(INFINITY), -x);
    double y = 0;
    if (x < 0) {
        const double r = x - ::rint(x);
        if (!(r != 0)) return static_cast<double>(NAN);
        y = -pi / ::tan(pi * r);
        x = 1 - x;
    }
    for (; x < 8; x += 1) y -= 1 / x;
    const double w = 1 / (x * x);
    const double series =
        w * (1. / 12 - w * (1. / 120 - w * (1. / 252 - w * (1. / 240 - w * (1. / 132 - w * 691. / 32760)))));
    return y + ::log(x) - 0.5 / x - series;
}
SINTER_HOST_DEVICE double trigamma(double x) {
    constexpr double pi = 3.14159265358979323846;
    if (x == 0) return static_cast<double>(INFINITY);
    double y = 0, sign = 1;
    if (x < 0) {
        const double s = ::sin(pi * (x - ::rint(x)));
        y = pi * pi / (s * s);
        sign = -1;
        x = 1 - x;
    }
    for (; x < 8; x += 1) y += sign / (x * x);
    const double w = 1 / (x * x);
    const double series = 1. / 6 - w * (1. / 30 - w * (1. / 42 - w * (1. / 30 - w * (5. / 66 - w * 691. / 2730))));
    return y + sign * (1 / x + 0.5 * w + series * w / x);
}

} // namespace sinter::scalar_gamma
