// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>

/// y = e^a - 1, accurate where a is near 0, too. ONNX has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name expm1{"expm1"}; }

template <>
struct rule<op::expm1> : elementwise_rule<1, 12> {
    static constexpr const char* name = "expm1";
    static constexpr bool monotone = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::expm1(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::exp(g.x(0))); }
};

namespace ops {
constexpr tensor expm1(tensor a) { return unary<op::expm1>(a); }
}
using ops::expm1;

} // namespace sinter
