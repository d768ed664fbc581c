// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = -a. ONNX: Neg.
namespace sinter {

template <>
struct rule<op::neg> : elementwise_rule<1, 1> {
    static constexpr const char* name = "neg";
    template <class V>
    static SINTER_VALUE V value(V a) { return -a; }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        g.add(0, -g.d);
    }
};

} // namespace sinter
