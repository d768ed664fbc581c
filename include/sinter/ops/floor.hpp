// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = the greatest integer that is not above a. No gradient flows. ONNX: Floor.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name floor{"floor"}; }

template <>
struct rule<op::floor> : elementwise_rule<1, 6> {
    static constexpr const char *name = "floor", *onnx = "Floor";
    static constexpr bool monotone = true, keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::floor(a); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor floor(tensor a) { return unary<op::floor>(a); }
}
using ops::floor;

} // namespace sinter
