// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops/mul.hpp>
#include <sinter/ops/tanh.hpp>

/// gelu's approximation by tanh (Hendrycks and Gimpel 2016), which GPT-2 and BERT's successors were trained with. ONNX: Gelu,
/// approximate tanh.
namespace sinter {

namespace op { inline constexpr op_name gelu_tanh{"gelu_tanh"}, gelu_tanh_slope{"gelu_tanh_slope"}; }

namespace detail {

/// What value and slope are made of: y = x (1 + t) / 2 with t = tanh(u x), u = c x^2 + r. Both stand in one kernel, most often, and the
/// compiler finds out that these are the same numbers.
inline constexpr float gelu_root = 0.797884561f, gelu_cubic = 0.044715f * gelu_root;   // r = sqrt(2 / pi)
template <class V>
SINTER_VALUE V gelu_factor(V x) { return x * x * gelu_cubic + gelu_root; }
template <class V>
SINTER_VALUE V gelu_half(V t) { return t * 0.5f + 0.5f; }

} // namespace detail

template <>
struct rule<op::gelu_tanh_slope> : elementwise_rule<1, 10> {   // beside what the value takes
    static constexpr const char* name = "gelu_tanh_slope";
    /// (1 + t) / 2 + x (1 - t^2) (u + 2 c x^2) / 2, where x (1 + t) / 2 is the value and 2 c x^2 is 2 u - 2 r.
    template <class V>
    static SINTER_VALUE V value(V x) {
        const V u = detail::gelu_factor(x), t = arithmetic<V>::tanh(u * x), half = detail::gelu_half(t);
        return x * half * (1.f - t) * (u * 3.f - 2.f * detail::gelu_root) + half;
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
    static SINTER_VALUE V value(V x) { return x * detail::gelu_half(arithmetic<V>::tanh(detail::gelu_factor(x) * x)); }
    static constexpr void gradient(gradient_of& g) { g.add(0, g.d * ops::unary<op::gelu_tanh_slope>(g.x(0))); }
};

namespace ops {
constexpr tensor gelu_tanh(tensor x) { return unary<op::gelu_tanh>(x); }
}

} // namespace sinter
