// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a >= b, else 0. No gradient flows. ONNX: GreaterOrEqual, then Cast.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name greater_equal{"greater_equal"}; }

template <>
struct rule<op::greater_equal> : elementwise_rule<2, 1> {
    static constexpr const char* name = "greater_equal";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select(a >= b, V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor greater_equal(tensor a, tensor b) { return binary<op::greater_equal>(a, b); }
constexpr tensor greater_equal(tensor a, float b) {
    return a.ok() ? binary<op::greater_equal>(a, constant(a.g, b)) : a;
}
constexpr tensor greater_equal(float a, tensor b) {
    return b.ok() ? binary<op::greater_equal>(constant(b.g, a), b) : b;
}
}
using ops::greater_equal;

} // namespace sinter
