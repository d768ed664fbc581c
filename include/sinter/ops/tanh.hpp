// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = hyperbolic tangent of a. ONNX: Tanh.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name tanh{"tanh"}; }

template <>
struct rule<op::tanh> : elementwise_rule<1, 14> {
    static constexpr const char *name = "tanh", *onnx = "Tanh";
    static constexpr bool monotone = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::tanh(a); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d * (1.f - g.y() * g.y()));
    }
};

namespace ops {
constexpr tensor tanh(tensor a) { return unary<op::tanh>(a); }
}
using ops::tanh;

} // namespace sinter
