// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/where.hpp>

/// y = the smaller of a and b, NaN where either is; where they are equal each gets half the
/// gradient. ONNX: Min.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name minimum{"minimum"}; }

template <>
struct rule<op::minimum> : elementwise_rule<2, 2> {
    static constexpr const char *name = "minimum", *onnx = "Min";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select(a != a, a, arithmetic<V>::min(a, b)); }
    static constexpr void gradient(gradient_of& g) {
        const tensor shared = ops::where(ops::equal(g.x(0), g.x(1)), g.d * 0.5f, g.d);
        if (g.wants(0)) g.add(0, ops::where(ops::greater(g.x(0), g.x(1)), 0.f, shared));
        if (g.wants(1)) g.add(1, ops::where(ops::greater(g.x(1), g.x(0)), 0.f, shared));
    }
};

namespace ops {
constexpr tensor minimum(tensor a, tensor b) { return binary<op::minimum>(a, b); }
constexpr tensor minimum(tensor a, float b) { return a.ok() ? binary<op::minimum>(a, constant(a.g, b)) : a; }
constexpr tensor minimum(float a, tensor b) { return minimum(b, a); }
}
using ops::minimum;

} // namespace sinter
