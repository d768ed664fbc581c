// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/greater.hpp>
#include <sinter/ops/sqrt.hpp>
#include <sinter/ops/where.hpp>

/// y = log(a + sqrt(a^2 + 1)), accurate near 0, too. ONNX: Asinh.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name asinh{"asinh"}; }

template <>
struct rule<op::asinh> : elementwise_rule<1, 26> {
    static constexpr const char *name = "asinh", *onnx = "Asinh";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::asinh(a); }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = g.x(0), size = ops::abs(x);   // beyond 1e9 sqrt(x^2 + 1) is |x|, and x^2 need not be finite
        g.add(0, g.d / ops::where(ops::greater(size, 1e9f), size, ops::sqrt(x * x + 1.f)));
    }
};

namespace ops {
constexpr tensor asinh(tensor a) { return unary<op::asinh>(a); }
}
using ops::asinh;

} // namespace sinter
