// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = square root of a; NaN below zero. Its gradient at zero is infinite. ONNX: Sqrt.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name sqrt{"sqrt"}; }

template <>
struct rule<op::sqrt> : elementwise_rule<1, 6> {
    static constexpr const char *name = "sqrt", *onnx = "Sqrt";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::sqrt(a); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d / (g.y() * 2.f));
    }
};

namespace ops {
constexpr tensor sqrt(tensor a) { return unary<op::sqrt>(a); }
}
using ops::sqrt;

} // namespace sinter
