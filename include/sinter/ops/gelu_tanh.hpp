// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/tanh.hpp>

/// gelu's approximation by tanh (Hendrycks and Gimpel 2016), which GPT-2 and BERT's successors were
/// trained with. ONNX: Gelu, approximate tanh.
namespace sinter::inline SINTER_TARGET {

namespace op { inline constexpr op_name gelu_tanh{"gelu_tanh"}, gelu_tanh_slope{"gelu_tanh_slope"}; }

namespace detail {

inline constexpr float gelu_root = 0.797884561f, gelu_cubic = 0.044715f * gelu_root;   // r = sqrt(2 / pi)
/// What value and slope are made of: (1 + tanh(x u)) / 2 with u = c x^2 + r is s = 1 / (1 + e), e =
/// 2^(x v) with v = -2 u / ln 2: exact far below, where tanh would cancel, and less work. Both
/// stand in one kernel, most often, and the compiler finds out that these are the same numbers.
/// Outside of these bounds s is 0, or 1.
inline constexpr float gelu_least = -10.04f, gelu_most = 10.01f, gelu_twice = 2.88539008f;   // 2 / ln 2
template <class V>
struct gelu_parts {
    V v, e, s;
    SINTER_VALUE explicit gelu_parts(V x) {
        const V near = arithmetic<V>::max(gelu_least - V{}, arithmetic<V>::min(gelu_most - V{}, x));   // NaN stays
        v = near * near * (-gelu_twice * gelu_cubic) - gelu_twice * gelu_root;
        e = arithmetic<V>::near_exp2(near * v);
        s = 1.f / (1.f + e);
    }
};

} // namespace detail

template <>
struct rule<op::gelu_tanh_slope> : elementwise_rule<1, 10> {   // beside what the value takes
    static constexpr const char* name = "gelu_tanh_slope";
    /// s + x s (1 - s) (2 u + 4 c x^2), where x s is the value, 1 - s is e s, and 2 u + 4 c x^2 is
    /// 6 u - 4 r.
    template <class V>
    static SINTER_VALUE V value(V x) {
        const detail::gelu_parts<V> p(x);
        return x * p.s * p.e * (p.s * (p.v * (-6.f / detail::gelu_twice) - 4.f * detail::gelu_root)) + p.s;
    }
    static constexpr void gradient(gradient_of& g) {
        const tensor x = g.x(0), square = x * x, t = ops::tanh((square * detail::gelu_cubic + detail::gelu_root) * x),
                     first = square * (3.f * detail::gelu_cubic) + detail::gelu_root;   // of tanh's argument
        g.add(0, g.d * (1.f - t * t) * (first + x * (3.f * detail::gelu_cubic * x - t * first * first)));
    }
};
template <>
struct rule<op::gelu_tanh> : elementwise_rule<1, 20> {
    static constexpr const char* name = "gelu_tanh";
    template <class V>
    static SINTER_VALUE V value(V x) { return x * detail::gelu_parts<V>(x).s; }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::unary<op::gelu_tanh_slope>(g.x(0))); }
};

namespace ops {
constexpr tensor gelu_tanh(tensor x) { return unary<op::gelu_tanh>(x); }
}

} // namespace sinter
