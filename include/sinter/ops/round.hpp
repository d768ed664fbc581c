// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = the nearest integer, of two the even one. No gradient flows. ONNX: Round.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name round{"round"}; }

template <>
struct rule<op::round> : elementwise_rule<1, 4> {
    static constexpr const char *name = "round", *onnx = "Round";
    static constexpr bool monotone = true, keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::round(a); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor round(tensor a) { return unary<op::round>(a); }
}
using ops::round;

} // namespace sinter
