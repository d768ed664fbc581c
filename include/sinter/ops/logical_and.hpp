// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where both are true, that is not 0, else 0. No gradient flows. ONNX: And of booleans.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name logical_and{"logical_and"}; }

template <>
struct rule<op::logical_and> : elementwise_rule<2, 2> {
    static constexpr const char* name = "logical_and";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select((a != 0.f) & (b != 0.f), V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor logical_and(tensor a, tensor b) { return binary<op::logical_and>(a, b); }
}
using ops::logical_and;

} // namespace sinter
