// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/abs.hpp>

/// y = a / (1 + |a|) (Bergstra et al. 2009). ONNX: Softsign.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name softsign{"softsign"}; }

template <>
struct rule<op::softsign> : elementwise_rule<1, 3> {
    static constexpr const char *name = "softsign", *onnx = "Softsign";
    static constexpr bool monotone = true;
    template <class V>
    static SINTER_VALUE V value(V a) { return a / (1.f + arithmetic<V>::abs(a)); }
    static constexpr void gradient(gradient_of& g) {
        const tensor root = 1.f / (1.f + ops::abs(g.x(0)));   // 1 - |y| would cancel
        g.add(0, g.d * root * root);
    }
};

namespace ops {
constexpr tensor softsign(tensor a) { return unary<op::softsign>(a); }
}

} // namespace sinter
