// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = natural logarithm of a; NaN below zero, -infinity at zero. ONNX: Log.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name log{"log"}; }

template <>
struct rule<op::log> : elementwise_rule<1, 12> {
    static constexpr const char *name = "log", *onnx = "Log";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::log(a); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d / g.x(0));
    }
};

namespace ops {
constexpr tensor log(tensor a) { return unary<op::log>(a); }
}
using ops::log;

} // namespace sinter
