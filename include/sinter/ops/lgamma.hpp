// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/digamma.hpp>

/// y = log |gamma(a)|; infinite at 0, -1, -2, ... ONNX has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name lgamma{"lgamma"}; }

template <>
struct rule<op::lgamma> : elementwise_rule<1, 65> {
    static constexpr const char* name = "lgamma";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::lgamma(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::digamma(g.x(0))); }
};

namespace ops {
constexpr tensor lgamma(tensor a) { return unary<op::lgamma>(a); }
}
using ops::lgamma;

} // namespace sinter
