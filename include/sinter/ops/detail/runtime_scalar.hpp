// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name runtime_scalar{"runtime_scalar"}; }

/// A number that changes from step to step; its argument is the place in call::scalars.
template <>
struct rule<op::runtime_scalar> : elementwise_rule<0, 0> {
    static constexpr const char* name = "runtime_scalar";
    static constexpr void gradient(gradient_of&) {}
};

} // namespace sinter
