// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/greater.hpp>

/// y = the smaller of a and b; where they are equal each gets half the gradient. ONNX: Min.
namespace sinter {

namespace op { inline constexpr op_name minimum{"minimum"}; }

template <>
struct rule<op::minimum> : elementwise_rule<2, 1> {
    static constexpr const char *name = "minimum", *onnx = "Min";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::min(a, b); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        const tensor half = ops::binary<op::equal>(g.x(0), g.x(1)) * 0.5f;
        if (g.wants(0)) g.add(0, g.d * (ops::binary<op::greater>(g.x(1), g.x(0)) + half));
        if (g.wants(1)) g.add(1, g.d * (ops::binary<op::greater>(g.x(0), g.x(1)) + half));
    }
};

namespace ops {
constexpr tensor minimum(tensor a, tensor b) { return binary<op::minimum>(a, b); }
constexpr tensor minimum(tensor a, float b) { return a.ok() ? binary<op::minimum>(a, constant(a.g, b)) : a; }
}
using ops::minimum;

} // namespace sinter
