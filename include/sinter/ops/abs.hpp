// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/sign.hpp>

/// y = |a|. Its gradient at 0 is 0. ONNX: Abs.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name abs{"abs"}; }

template <>
struct rule<op::abs> : elementwise_rule<1, 1> {
    static constexpr const char *name = "abs", *onnx = "Abs";
    static constexpr bool keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::abs(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::sign(g.x(0))); }
};

namespace ops {
constexpr tensor abs(tensor a) { return unary<op::abs>(a); }
}
using ops::abs;

} // namespace sinter
