// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/random_uniform.hpp>

/// 1 with probability p, else 0; one draw an element of p, a fresh set each step. No gradient
/// flows. ONNX: Bernoulli.
namespace sinter::inline SINTER_TARGET::ops {

constexpr tensor random_bernoulli(tensor p) { return p.ok() ? greater(p, random_uniform(p)) : p; }

} // namespace sinter::ops

namespace sinter::inline SINTER_TARGET {
using ops::random_bernoulli;
} // namespace sinter
