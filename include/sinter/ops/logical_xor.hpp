// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where just one is true, that is not 0, else 0. No gradient flows. ONNX: Xor of booleans.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name logical_xor{"logical_xor"}; }

template <>
struct rule<op::logical_xor> : elementwise_rule<2, 2> {
    static constexpr const char* name = "logical_xor";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::select((a != 0.f) ^ (b != 0.f), V{} + 1.f, V{}); }
    static constexpr void gradient(gradient_of&) {}
};

namespace ops {
constexpr tensor logical_xor(tensor a, tensor b) { return binary<op::logical_xor>(a, b); }
}
using ops::logical_xor;

} // namespace sinter
