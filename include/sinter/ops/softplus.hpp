// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/sigmoid.hpp>
#include <sinter/ops/where.hpp>

/// y = log(1 + e^a), a smooth relu (Dugas et al. 2001); exact in both tails, so no threshold is
/// needed. ONNX: Softplus.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name softplus{"softplus"}; }

template <>
struct rule<op::softplus> : elementwise_rule<1, 28> {
    static constexpr const char *name = "softplus", *onnx = "Softplus";
    template <class V>
    static SINTER_VALUE V value(V a) { return arithmetic<V>::softplus(a); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::sigmoid(g.x(0))); }
};

namespace ops {
constexpr tensor softplus(tensor a) { return unary<op::softplus>(a); }
/// The same with another sharpness: log(1 + e^(beta a)) / beta; a where the power rounds the 1 away,
/// since beta a may overflow.
constexpr tensor softplus(tensor a, float beta) {
    const tensor sharp = a * beta;
    return where(greater(sharp, 20.f), a, softplus(sharp) * (1.f / beta));
}
}

} // namespace sinter
