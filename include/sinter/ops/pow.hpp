// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/equal.hpp>
#include <sinter/ops/greater_equal.hpp>
#include <sinter/ops/log.hpp>
#include <sinter/ops/logical_and.hpp>
#include <sinter/ops/where.hpp>

/// y = a^b, with C's rules: a negative a needs a whole b, else NaN; a^0 and 1^b are 1, even of NaN.
/// ONNX: Pow.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name pow{"pow"}; }

template <>
struct rule<op::pow> : elementwise_rule<2, 60> {
    static constexpr const char *name = "pow", *onnx = "Pow";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::pow(a, b); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {
constexpr tensor pow(tensor a, tensor b) { return binary<op::pow>(a, b); }
/// The first powers, and their gradients' powers, are simpler than by logarithms.
constexpr tensor pow(tensor a, float b) {
    if (!a.ok() || b == 1) return a;
    if (b == 2) return a * a;
    if (b == 3) return a * a * a;
    return binary<op::pow>(a, constant(a.g, b));
}
constexpr tensor pow(float a, tensor b) { return b.ok() ? binary<op::pow>(constant(b.g, a), b) : b; }
}

constexpr void rule<op::pow>::gradient(gradient_of& g) {
    const tensor a = g.x(0), b = g.x(1);
    if (g.wants(0)) {
        if (b.at().k == op::constant) {   // without the power b - 1 where that is simple
            const float e = b.at().f;
            if (e != 0) g.add(0, g.d * e * ops::pow(a, e - 1.f));
        } else {   // at b = 0 there is none, though a^-1 may be infinite
            g.add(0, ops::where(ops::equal(b, 0.f), 0.f, g.d * b * ops::pow(a, b - 1.f)));
        }
    }
    if (g.wants(1))   // 0^b is 0 around any positive b
        g.add(1, ops::where(ops::logical_and(ops::equal(a, 0.f), ops::greater_equal(b, 0.f)), 0.f,
                            g.d * g.y() * ops::log(a)));
}
using ops::pow;

} // namespace sinter
