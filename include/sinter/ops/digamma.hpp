// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = the derivative of log gamma; infinite at 0, NaN at -1, -2, ... Its gradient is the trigamma
/// function, an op that has no gradient of its own (`no_gradient`). ONNX has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name digamma{"digamma"}, trigamma{"trigamma"}; }

template <>
struct rule<op::trigamma> : elementwise_rule<1, 150> {
    static constexpr const char* name = "trigamma";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::trigamma(a); }
    static constexpr void gradient(gradient_of& g) { g.refuse(); }
};

template <>
struct rule<op::digamma> : elementwise_rule<1, 140> {
    static constexpr const char* name = "digamma";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::digamma(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::unary<op::trigamma>(g.x(0))); }
};

namespace ops {
constexpr tensor digamma(tensor a) { return unary<op::digamma>(a); }
}
using ops::digamma;

} // namespace sinter
