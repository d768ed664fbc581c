// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>
#include <sinter/ops/sqrt.hpp>

/// y = log(a + sqrt(a^2 - 1)), accurate near 1, too; NaN below. ONNX: Acosh.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name acosh{"acosh"}; }

template <>
struct rule<op::acosh> : elementwise_rule<1, 26> {
    static constexpr const char *name = "acosh", *onnx = "Acosh";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::acosh(a); }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = ops::abs(g.x(0));   // below -1, where acosh is not defined, as PyTorch
        g.add(0, g.d / (ops::sqrt(x - 1.f) * ops::sqrt(x + 1.f)));
    }
};

namespace ops {
constexpr tensor acosh(tensor a) { return unary<op::acosh>(a); }
}
using ops::acosh;

} // namespace sinter
