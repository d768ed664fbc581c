// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sin.hpp>

/// y = cos(a), a in radians, of any size. ONNX: Cos.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name cos{"cos"}; }

template <>
struct rule<op::cos> : elementwise_rule<1, 24> {
    static constexpr const char *name = "cos", *onnx = "Cos";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::cos(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, -g.d * ops::sin(g.x(0))); }
};

namespace ops {
constexpr tensor cos(tensor a) { return unary<op::cos>(a); }
}

constexpr void rule<op::sin>::gradient(gradient_of& g) { g.add(0, g.d * ops::cos(g.x(0))); }
using ops::cos;

} // namespace sinter
