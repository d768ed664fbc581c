// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where either is true, that is not 0, else 0. No gradient flows. ONNX: Or of booleans.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name logical_or{"logical_or"}; }

template <>
struct rule<op::logical_or> : elementwise_rule<2, 2> {
    static constexpr const char* name = "logical_or";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select((a != 0.f) | (b != 0.f), V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor logical_or(tensor a, tensor b) { return binary<op::logical_or>(a, b); }
}
using ops::logical_or;

} // namespace sinter
