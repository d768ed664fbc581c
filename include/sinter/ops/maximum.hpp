// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/greater.hpp>

/// y = the larger of a and b; where they are equal each gets half the gradient. ONNX: Max.
namespace sinter {

namespace op { inline constexpr op_name maximum{"maximum"}; }

template <>
struct rule<op::maximum> : elementwise_rule<2, 1> {
    static constexpr const char *name = "maximum", *onnx = "Max";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::max(a, b); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        const tensor half = ops::binary<op::equal>(g.x(0), g.x(1)) * 0.5f;
        if (g.wants(0)) g.add(0, g.d * (ops::binary<op::greater>(g.x(0), g.x(1)) + half));
        if (g.wants(1)) g.add(1, g.d * (ops::binary<op::greater>(g.x(1), g.x(0)) + half));
    }
};

namespace ops {
constexpr tensor maximum(tensor a, tensor b) { return binary<op::maximum>(a, b); }
constexpr tensor maximum(tensor a, float b) { return a.ok() ? binary<op::maximum>(a, constant(a.g, b)) : a; }
}
using ops::maximum;

} // namespace sinter
