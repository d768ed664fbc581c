// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>

namespace sinter::inline SINTER_TARGET {

/// A number given as a template argument, `leaky_relu<0.2f>` (not every compiler takes a plain
/// float there).
struct number {
    float value;
    consteval number(float v) : value(v) {}
    consteval number(double v) : value(static_cast<float>(v)) {}
    consteval number(int v) : value(static_cast<float>(v)) {}
};

} // namespace sinter
