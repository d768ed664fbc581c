// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a > b, else 0. No gradient flows. ONNX: Greater, then Cast.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name greater{"greater"}; }

template <>
struct rule<op::greater> : elementwise_rule<2, 1> {
    static constexpr const char* name = "greater";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select(a > b, V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor greater(tensor a, tensor b) { return binary<op::greater>(a, b); }
constexpr tensor greater(tensor a, float b) { return a.ok() ? binary<op::greater>(a, constant(a.g, b)) : a; }
constexpr tensor greater(float a, tensor b) { return b.ok() ? binary<op::greater>(constant(b.g, a), b) : b; }
}
using ops::greater;

} // namespace sinter
