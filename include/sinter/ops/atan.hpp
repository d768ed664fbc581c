// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = the angle in (-pi/2, pi/2) whose tangent is a. ONNX: Atan.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name atan{"atan"}; }

template <>
struct rule<op::atan> : elementwise_rule<1, 26> {
    static constexpr const char *name = "atan", *onnx = "Atan";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::atan(a); }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = g.x(0);
        g.add(0, g.d / (x * x + 1.f));
    }
};

namespace ops {
constexpr tensor atan(tensor a) { return unary<op::atan>(a); }
}
using ops::atan;

} // namespace sinter
