// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = (e^a - e^-a) / 2, accurate near 0, too. ONNX: Sinh.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name sinh{"sinh"}; }

template <>
struct rule<op::sinh> : elementwise_rule<1, 22> {
    static constexpr const char *name = "sinh", *onnx = "Sinh";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::sinh(a); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {
constexpr tensor sinh(tensor a) { return unary<op::sinh>(a); }
}
using ops::sinh;

} // namespace sinter

#include <sinter/ops/cosh.hpp>   // its gradient
