// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/detail/elementwise.hpp>

/// y = a * b, broadcast as in NumPy. ONNX: Mul.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name mul{"mul"}; }

template <>
struct rule<op::mul> : elementwise_rule<2, 1> {
    static constexpr const char *name = "mul", *onnx = "Mul";
    static constexpr bool keeps_padding = true, scales = true;
    template <class V>
    static SINTER_VALUE V value(V a, V b) { return a * b; }
    static constexpr void gradient([[maybe_unused]] gradient_of& g) {
        if (g.wants(0)) g.add(0, g.d * g.x(1));
        if (g.wants(1)) g.add(1, g.d * g.x(0));
    }
};

constexpr tensor operator*(tensor a, tensor b) { return ops::binary<op::mul>(a, b); }

} // namespace sinter
