// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a is infinite, else 0. No gradient flows. ONNX: IsInf.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name isinf{"isinf"}; }

template <>
struct rule<op::isinf> : elementwise_rule<1, 2> {
    static constexpr const char* name = "isinf";
    template <class V>
    static SINTER_VALUE V value(V a) {
        return arithmetic<V>::select(arithmetic<V>::abs(a) == __builtin_inff(), V{} + 1.f, V{});
    }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor isinf(tensor a) { return unary<op::isinf>(a); }
}
using ops::isinf;

} // namespace sinter
