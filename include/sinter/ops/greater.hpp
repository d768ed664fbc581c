// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = 1 where a > b, else 0. No gradient flows. ONNX: Greater, then Cast.
namespace sinter {

namespace op { inline constexpr op_name greater{"greater"}; }

template <>
struct rule<op::greater> : elementwise_rule<2, 1> {
    static constexpr const char* name = "greater";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return arithmetic<V>::greater(a, b); }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
    }
};

namespace ops {
constexpr tensor greater(tensor a, tensor b) { return binary<op::greater>(a, b); }
constexpr tensor greater(tensor a, float b) { return a.ok() ? binary<op::greater>(a, constant(a.g, b)) : a; }
}
using ops::greater;

} // namespace sinter
