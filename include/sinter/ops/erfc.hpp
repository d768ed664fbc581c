// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>

/// y = 1 - erf(a), accurate where it is tiny, too. ONNX has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name erfc{"erfc"}; }

template <>
struct rule<op::erfc> : elementwise_rule<1, 40> {
    static constexpr const char* name = "erfc";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::erfc(a); }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = g.x(0);
        g.add(0, g.d * ops::exp(-(x * x)) * -1.12837916709551257f);   // 2 / sqrt(pi)
    }
};

namespace ops {
constexpr tensor erfc(tensor a) { return unary<op::erfc>(a); }
}
using ops::erfc;

} // namespace sinter
