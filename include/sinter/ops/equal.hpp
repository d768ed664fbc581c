// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a equals b, else 0. No gradient flows. ONNX: Equal, then Cast.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name equal{"equal"}; }

template <>
struct rule<op::equal> : elementwise_rule<2, 1> {
    static constexpr const char* name = "equal";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select(a == b, V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor equal(tensor a, tensor b) { return binary<op::equal>(a, b); }
constexpr tensor equal(tensor a, float b) { return a.ok() ? binary<op::equal>(a, constant(a.g, b)) : a; }
constexpr tensor equal(float a, tensor b) { return b.ok() ? binary<op::equal>(constant(b.g, a), b) : b; }
}
using ops::equal;

} // namespace sinter
