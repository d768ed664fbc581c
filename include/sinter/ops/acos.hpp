// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sqrt.hpp>

/// y = the angle in [0, pi] whose cosine is a; NaN beyond 1. ONNX: Acos.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name acos{"acos"}; }

template <>
struct rule<op::acos> : elementwise_rule<1, 20> {
    static constexpr const char *name = "acos", *onnx = "Acos";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::acos(a); }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = g.x(0);
        g.add(0, -g.d / ops::sqrt((1.f - x) * (1.f + x)));
    }
};

namespace ops {
constexpr tensor acos(tensor a) { return unary<op::acos>(a); }
}
using ops::acos;

} // namespace sinter
