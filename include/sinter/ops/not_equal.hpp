// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a differs from b (NaN differs from everything), else 0. No gradient flows. ONNX:
/// Equal, Not, then Cast.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name not_equal{"not_equal"}; }

template <>
struct rule<op::not_equal> : elementwise_rule<2, 1> {
    static constexpr const char* name = "not_equal";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select(a != b, V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor not_equal(tensor a, tensor b) { return binary<op::not_equal>(a, b); }
constexpr tensor not_equal(tensor a, float b) { return a.ok() ? binary<op::not_equal>(a, constant(a.g, b)) : a; }
constexpr tensor not_equal(float a, tensor b) { return b.ok() ? binary<op::not_equal>(constant(b.g, a), b) : b; }
}
using ops::not_equal;

} // namespace sinter
