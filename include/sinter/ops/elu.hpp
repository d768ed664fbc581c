// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/greater.hpp>
#include <sinter/ops/where.hpp>

/// y = a where a > 0, else alpha (e^a - 1) (Clevert et al. 2015). ONNX: Elu.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name elu{"elu"}; }

/// Of a, alpha and k: a where positive, else alpha (e^(k a) - 1); alpha and k are constants, which
/// get no gradient.
template <>
struct rule<op::elu> : elementwise_rule<3, 14> {
    static constexpr const char* name = "elu";
    template <class V>
    static SINTER_VALUE V value(V a, V alpha, V k) {
        return arithmetic<V>::select(a > 0.f, a, alpha * arithmetic<V>::expm1(a * k));
    }
    static constexpr void
    gradient(gradient_of& g) {   // alpha e^(k a) is y + alpha; where alpha k is positive y has a's sign
        const float alpha = g.x(1).at().f, k = g.x(2).at().f;
        const tensor slope = k == 1.f ? g.y() + alpha : g.y() * k + alpha * k;
        const bool rises = alpha * k > 0.f;
        g.add(0, ops::where(ops::greater(rises ? g.y() : g.x(0), 0.f), g.d, g.d * slope));
    }
};

namespace ops {
constexpr tensor elu(tensor a, float alpha, float k) {
    return a.ok() ? ternary<op::elu>(a, constant(a.g, alpha), constant(a.g, k)) : a;
}
constexpr tensor elu(tensor a, float alpha = 1) { return elu(a, alpha, 1.f); }
}

} // namespace sinter
