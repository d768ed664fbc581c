// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a is NaN, else 0. No gradient flows. ONNX: IsNaN.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name isnan{"isnan"}; }

template <>
struct rule<op::isnan> : elementwise_rule<1, 2> {
    static constexpr const char* name = "isnan";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::select(a != a, V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor isnan(tensor a) { return unary<op::isnan>(a); }
}
using ops::isnan;

} // namespace sinter
