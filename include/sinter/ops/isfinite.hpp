// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a is neither infinite nor NaN, else 0. No gradient flows. ONNX: IsInf and IsNaN, Or,
/// Not.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name isfinite{"isfinite"}; }

template <>
struct rule<op::isfinite> : elementwise_rule<1, 2> {
    static constexpr const char* name = "isfinite";
    template <class V>
    static SINTER_VALUE V value(V a) {
        return arithmetic<V>::select(arithmetic<V>::abs(a) < __builtin_inff(), V{} + 1.f, V{});
    }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor isfinite(tensor a) { return unary<op::isfinite>(a); }
}
using ops::isfinite;

} // namespace sinter
