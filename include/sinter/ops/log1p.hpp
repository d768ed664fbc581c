// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = log(1 + a), accurate where a is near 0, too; -infinity at -1, NaN below. ONNX has no such
/// operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name log1p{"log1p"}; }

template <>
struct rule<op::log1p> : elementwise_rule<1, 16> {
    static constexpr const char* name = "log1p";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::log1p(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d / (g.x(0) + 1.f)); }
};

namespace ops {
constexpr tensor log1p(tensor a) { return unary<op::log1p>(a); }
}
using ops::log1p;

} // namespace sinter
