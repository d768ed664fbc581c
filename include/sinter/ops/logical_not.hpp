// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a is 0, else 0. No gradient flows. ONNX: Not of a boolean.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name logical_not{"logical_not"}; }

template <>
struct rule<op::logical_not> : elementwise_rule<1, 2> {
    static constexpr const char* name = "logical_not";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::select(a == 0.f, V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor logical_not(tensor a) { return unary<op::logical_not>(a); }
}
using ops::logical_not;

} // namespace sinter
