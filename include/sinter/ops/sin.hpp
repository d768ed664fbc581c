// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = sin(a), a in radians, of any size. ONNX: Sin.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name sin{"sin"}; }

template <>
struct rule<op::sin> : elementwise_rule<1, 24> {
    static constexpr const char *name = "sin", *onnx = "Sin";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::sin(a); }
    static constexpr void gradient(gradient_of& g);
};

namespace ops {
constexpr tensor sin(tensor a) { return unary<op::sin>(a); }
}
using ops::sin;

} // namespace sinter

#include <sinter/ops/cos.hpp>   // its gradient
