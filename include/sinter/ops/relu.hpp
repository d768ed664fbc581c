// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = max(a, 0); NaN of NaN. Its gradient at 0 is 0, as everywhere in the field. ONNX: Relu.
namespace sinter::inline SINTER_TARGET {

namespace op {
inline constexpr op_name relu{"relu"}, relu_gradient{"relu_gradient"};
}

template <>
struct rule<op::relu> : elementwise_rule<1, 1> {
    static constexpr const char *name = "relu", *onnx = "Relu";
    static constexpr bool monotone = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::relu(a); }
    static constexpr void gradient(gradient_of& g);
};

/// d, but 0 where y <= 0: an exact zero, which later kernels may skip.
template <>
struct rule<op::relu_gradient> : elementwise_rule<2, 1> {
    static constexpr const char* name = "relu_gradient";
    template <class V>
    static SINTER_VALUE V value(V d, V y) { return arithmetic<V>::select(y <= 0.f, V{}, d); }
    static constexpr void gradient(gradient_of& g) {
        g.add(0, make<op::relu_gradient>(g.g, g.d.shape(), {g.d, g.x(1)}));
    }
};

namespace ops {
constexpr tensor relu(tensor a) { return unary<op::relu>(a); }
}

constexpr void rule<op::relu>::gradient(gradient_of& g) {
    g.add(0, make<op::relu_gradient>(g.g, g.d.shape(), {g.d, g.y()}));
}

} // namespace sinter
