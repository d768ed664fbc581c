// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = the greatest integer not above a / b, as NumPy's floor_divide. No gradient flows. ONNX
/// has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name floor_div{"floor_div"}; }

template <>
struct rule<op::floor_div> : elementwise_rule<2, 14> {
    static constexpr const char* name = "floor_div";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::floor_div(a, b); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor floor_div(tensor a, tensor b) { return binary<op::floor_div>(a, b); }
constexpr tensor floor_div(tensor a, float b) { return a.ok() ? binary<op::floor_div>(a, constant(a.g, b)) : a; }
constexpr tensor floor_div(float a, tensor b) { return b.ok() ? binary<op::floor_div>(constant(b.g, a), b) : b; }
}
using ops::floor_div;

} // namespace sinter
