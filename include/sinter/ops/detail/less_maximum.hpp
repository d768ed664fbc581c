// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name less_maximum{"less_maximum"}; }

/// y = a - b, where b is the largest of numbers like a: a is rounded first, as the maximum was.
/// Were a a product, a fused multiply-add would subtract the maximum from what is not yet rounded,
/// and e^y of large numbers would be anything.
template <>
struct rule<op::less_maximum> : elementwise_rule<2, 1> {
    static constexpr const char *name = "less_maximum", *onnx = "Sub";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::subtract(a, b); }
    static constexpr void gradient(gradient_of& g) {
        g.add(0, g.d);
        if (g.wants(1)) g.add(1, -g.d);
    }
};

namespace ops {
constexpr tensor less_maximum(tensor a, tensor b) { return binary<op::less_maximum>(a, b); }
}

} // namespace sinter
