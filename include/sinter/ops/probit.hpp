// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/exp.hpp>

/// y = the inverse of the normal distribution function: a fraction a of all standard normal numbers
/// lies below y. After Giles' single precision inverse of erf (2010). -infinity at 0, infinity at
/// 1. ONNX: none.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name probit{"probit"}; }

template <>
struct rule<op::probit> : elementwise_rule<1, 40> {
    static constexpr const char* name = "probit";
    template <class V>
    static SINTER_VALUE V value(V a) {
        using f = arithmetic<V>;
        const V w = -f::log(4.f * a * (1.f - a));
        const V s = f::sqrt(w), x = w - 2.5f, y = s - 3.f, z = 1.f / s;
        V p = x * 2.81022636e-08f + 3.43273939e-07f, q = y * -0.000200214257f + 0.000100950558f;
        p = p * x + -3.5233877e-06f, q = q * y + 0.00134934322f;
        p = p * x + -4.39150654e-06f, q = q * y + -0.00367342844f;
        p = p * x + 0.00021858087f, q = q * y + 0.00573950773f;
        p = p * x + -0.00125372503f, q = q * y + -0.0076224613f;
        p = p * x + -0.00417768164f, q = q * y + 0.00943887047f;
        p = p * x + 0.246640727f, q = q * y + 1.00167406f;
        p = p * x + 1.50140941f, q = q * y + 2.83297682f;
        V far = z * 118.182266f +
                -155.445465f;   // where Giles' ends: fitted to w from 15 to 105, what denormal numbers have
        far = far * z + 89.1990738f;
        far = far * z + -30.3087273f;
        far = far * z + 7.578011f;
        far = far * z + -1.48938155f;
        far = far * z + -0.0134076923f + s;
        const V inside = f::select(w < 5.f, p, f::select(w < 16.f, q, far)) * (2.f * a - 1.f) * 1.41421356f;
        return f::select(a * (1.f - a) == 0.f, (2.f * a - 1.f) / (a - a), inside);
    }
    static constexpr void gradient(gradient_of& g) {
        g.add(0, g.d * ops::exp(g.y() * g.y() * 0.5f) * 2.50662827f);
    }   // 1 / density
};

namespace ops {
constexpr tensor probit(tensor a) { return unary<op::probit>(a); }
}
using ops::probit;

} // namespace sinter
