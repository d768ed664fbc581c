// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/add.hpp>
#include <sinter/ops/mul.hpp>

/// y = a b + c as one node, where a layer is made often enough for its nodes to count. Training
/// programs alone have it.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name multiply_add{"multiply_add"}; }

template <>
struct rule<op::multiply_add> : elementwise_rule<3, 2> {
    static constexpr const char* name = "multiply_add";
    template <class V>
    static SINTER_VALUE V value(V a, V b, V c) { return a * b + c; }
    static constexpr void gradient(gradient_of& g) {
        if (g.wants(0)) g.add(0, g.d * g.x(1));
        if (g.wants(1)) g.add(1, g.d * g.x(0));
        if (g.wants(2)) g.add(2, g.d);
    }
};

namespace ops {
constexpr tensor multiply_add(tensor a, tensor b, tensor c) { return ternary<op::multiply_add>(a, b, c); }
}

} // namespace sinter
