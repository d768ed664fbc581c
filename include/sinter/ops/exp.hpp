// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = e^a. ONNX: Exp.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name exp{"exp"}; }

template <>
struct rule<op::exp> : elementwise_rule<1, 10> {
    static constexpr const char *name = "exp", *onnx = "Exp";
    static constexpr bool monotone = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::exp(a); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d * g.y());
    }
};

namespace ops {
constexpr tensor exp(tensor a) { return unary<op::exp>(a); }
}
using ops::exp;

} // namespace sinter
