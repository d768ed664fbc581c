// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sqrt.hpp>

/// y = the angle in [-pi/2, pi/2] whose sine is a; NaN beyond 1. ONNX: Asin.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name asin{"asin"}; }

template <>
struct rule<op::asin> : elementwise_rule<1, 20> {
    static constexpr const char *name = "asin", *onnx = "Asin";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::asin(a); }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = g.x(0);
        g.add(0, g.d / ops::sqrt((1.f - x) * (1.f + x)));
    }
};

namespace ops {
constexpr tensor asin(tensor a) { return unary<op::asin>(a); }
}
using ops::asin;

} // namespace sinter
