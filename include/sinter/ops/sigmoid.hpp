// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 / (1 + e^-a). ONNX: Sigmoid.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name sigmoid{"sigmoid"}; }

template <>
struct rule<op::sigmoid> : elementwise_rule<1, 12> {
    static constexpr const char *name = "sigmoid", *onnx = "Sigmoid";
    static constexpr bool monotone = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::sigmoid(a); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d * (g.y() * (1.f - g.y())));
    }
};

namespace ops {
constexpr tensor sigmoid(tensor a) { return unary<op::sigmoid>(a); }
}

} // namespace sinter
