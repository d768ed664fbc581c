// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a / b, broadcast as in NumPy. ONNX: Div.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name div{"div"}; }

template <>
struct rule<op::div> : elementwise_rule<2, 4> {
    static constexpr const char *name = "div", *onnx = "Div";
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return a / b; }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        const tensor t = g.d / g.x(1);
        if (g.wants(0)) g.add(0, t);
        if (g.wants(1)) g.add(1, -(t * g.y()));
    }
};

constexpr tensor operator/(tensor a, tensor b) { return ops::binary<op::div>(a, b); }

} // namespace sinter
