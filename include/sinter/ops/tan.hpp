// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = tan(a), a in radians, of any size. ONNX: Tan.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name tan{"tan"}; }

template <>
struct rule<op::tan> : elementwise_rule<1, 28> {
    static constexpr const char *name = "tan", *onnx = "Tan";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::tan(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * (g.y() * g.y() + 1.f)); }
};

namespace ops {
constexpr tensor tan(tensor a) { return unary<op::tan>(a); }
}
using ops::tan;

} // namespace sinter
