// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/math/exp.hpp>
#include <sinter/kernel/cpu/math/log.hpp>

namespace sinter::cpu {

/// log(1 + e^x) within 2.5 ULP, also in its tails: x far above, e^x far below zero.
SINTER_INLINE vf softplus(vf x) { return max(x, zero()) + log1p(exp(-absolute(x))); }

} // namespace sinter::cpu
