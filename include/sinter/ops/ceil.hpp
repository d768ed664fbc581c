// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = the least integer that is not below a. No gradient flows. ONNX: Ceil.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name ceil{"ceil"}; }

template <>
struct rule<op::ceil> : elementwise_rule<1, 6> {
    static constexpr const char *name = "ceil", *onnx = "Ceil";
    static constexpr bool monotone = true, keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::ceil(a); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor ceil(tensor a) { return unary<op::ceil>(a); }
}
using ops::ceil;

} // namespace sinter
