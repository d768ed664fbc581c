// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/where.hpp>

/// y = the larger of a and b, NaN where either is; where they are equal each gets half the
/// gradient. ONNX: Max.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name maximum{"maximum"}; }

template <>
struct rule<op::maximum> : elementwise_rule<2, 2> {
    static constexpr const char *name = "maximum", *onnx = "Max";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select(a != a, a, arithmetic<V>::max(a, b)); }
    static constexpr void gradient(gradient_of& g) {
        const tensor shared = ops::where(ops::equal(g.x(0), g.x(1)), g.d * 0.5f, g.d);
        if (g.wants(0)) g.add(0, ops::where(ops::greater(g.x(1), g.x(0)), 0.f, shared));
        if (g.wants(1)) g.add(1, ops::where(ops::greater(g.x(0), g.x(1)), 0.f, shared));
    }
};

namespace ops {
constexpr tensor maximum(tensor a, tensor b) { return binary<op::maximum>(a, b); }
constexpr tensor maximum(tensor a, float b) { return a.ok() ? binary<op::maximum>(a, constant(a.g, b)) : a; }
constexpr tensor maximum(float a, tensor b) { return maximum(b, a); }
}
using ops::maximum;

} // namespace sinter
