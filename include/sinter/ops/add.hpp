// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a + b, broadcast as in NumPy. ONNX: Add.
namespace sinter {

template <>
struct rule<op::add> : elementwise_rule<2, 1> {
    static constexpr const char* name = "add";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return a + b; }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, g.d);
        g.add(1, g.d);
    }
};

} // namespace sinter
