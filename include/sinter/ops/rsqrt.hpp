// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 / sqrt(a); infinite at zero, NaN below. ONNX has no such operator.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name rsqrt{"rsqrt"}; }

template <>
struct rule<op::rsqrt> : elementwise_rule<1, 10> {
    static constexpr const char* name = "rsqrt";
    template <class V>
    static SINTER_VALUE V value(V a) { return 1.f / arithmetic<V>::sqrt(a); }
    static constexpr void gradient(gradient_of& g) {
        g.add(0, g.d * g.y() * g.y() * g.y() * -0.5f);   // y^3 alone may leave the floats
    }
};

namespace ops {
constexpr tensor rsqrt(tensor a) { return unary<op::rsqrt>(a); }
}
using ops::rsqrt;

} // namespace sinter
