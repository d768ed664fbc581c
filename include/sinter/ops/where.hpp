// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a where the condition is not 0, else b; all three broadcast as in NumPy. The gradient goes
/// to the one that was taken: an exact 0 to the other, whatever stands there. ONNX: Where, its
/// condition cast to a boolean.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name where{"where"}; }

template <>
struct rule<op::where> : elementwise_rule<3, 1> {
    static constexpr const char* name = "where";
    template <class V>
    static SINTER_VALUE V value(V condition, V a, V b) { return arithmetic<V>::select(condition != 0.f, a, b); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {
constexpr tensor where(tensor condition, tensor a, tensor b) { return ternary<op::where>(condition, a, b); }
constexpr tensor where(tensor condition, tensor a, float b) {
    return a.ok() ? where(condition, a, constant(a.g, b)) : a;
}
constexpr tensor where(tensor condition, float a, tensor b) {
    return b.ok() ? where(condition, constant(b.g, a), b) : b;
}
constexpr tensor where(tensor condition, float a, float b) {
    return condition.ok() ? where(condition, constant(condition.g, a), constant(condition.g, b)) : condition;
}
}
using ops::where;

constexpr void rule<op::where>::gradient(gradient_of& g) {
    if (g.wants(1)) g.add(1, ops::where(g.x(0), g.d, 0.f));
    if (g.wants(2)) g.add(2, ops::where(g.x(0), 0.f, g.d));
}

} // namespace sinter
