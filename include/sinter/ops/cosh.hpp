// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sinh.hpp>

/// y = (e^a + e^-a) / 2. ONNX: Cosh.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name cosh{"cosh"}; }

template <>
struct rule<op::cosh> : elementwise_rule<1, 18> {
    static constexpr const char *name = "cosh", *onnx = "Cosh";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::cosh(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::sinh(g.x(0))); }
};

namespace ops {
constexpr tensor cosh(tensor a) { return unary<op::cosh>(a); }
}

constexpr void rule<op::sinh>::gradient(gradient_of& g) { g.add(0, g.d * ops::cosh(g.x(0))); }
using ops::cosh;

} // namespace sinter
