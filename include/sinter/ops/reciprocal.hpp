// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 / a. ONNX: Reciprocal.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name reciprocal{"reciprocal"}; }

template <>
struct rule<op::reciprocal> : elementwise_rule<1, 4> {
    static constexpr const char *name = "reciprocal", *onnx = "Reciprocal";
    template <class V>
    static SINTER_VALUE V value(V a) { return 1.f / a; }
    static constexpr void gradient(gradient_of& g) { g.add(0, -g.d * g.y() * g.y()); }
};

namespace ops {
constexpr tensor reciprocal(tensor a) { return unary<op::reciprocal>(a); }
}
using ops::reciprocal;

} // namespace sinter
