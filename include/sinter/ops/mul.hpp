// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a * b, broadcast as in NumPy. ONNX: Mul.
namespace sinter {

template <>
struct rule<op::mul> : elementwise_rule<2, 1> {
    static constexpr const char* name = "mul";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return a * b; }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        if (g.wants(0)) g.add(0, g.d * g.x(1));
        if (g.wants(1)) g.add(1, g.d * g.x(0));
    }
};

} // namespace sinter
