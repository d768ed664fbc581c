// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1, 0 or -1 as a is positive, zero or negative; NaN of NaN. No gradient flows. ONNX: Sign.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name sign{"sign"}; }

template <>
struct rule<op::sign> : elementwise_rule<1, 2> {
    static constexpr const char *name = "sign", *onnx = "Sign";
    static constexpr bool keeps_padding = true;
    template <class V>
    static SINTER_VALUE V value(V a) {
        const V negative = arithmetic<V>::select(a < 0.f, V{} - 1.f, a);   // zeros and NaN are left as they are
        return arithmetic<V>::select(a > 0.f, V{} + 1.f, negative);
    }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor sign(tensor a) { return unary<op::sign>(a); }
}
using ops::sign;

} // namespace sinter
