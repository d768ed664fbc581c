// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/onnx/term.hpp>
#include <sinter/ops/atan2.hpp>
#include <sinter/ops/clip.hpp>
#include <sinter/ops/digamma.hpp>
#include <sinter/ops/elu.hpp>
#include <sinter/ops/erfc.hpp>
#include <sinter/ops/expm1.hpp>
#include <sinter/ops/floor_div.hpp>
#include <sinter/ops/gelu_tanh.hpp>
#include <sinter/ops/hard_tanh.hpp>
#include <sinter/ops/lgamma.hpp>
#include <sinter/ops/log1p.hpp>
#include <sinter/ops/mod.hpp>
#include <sinter/ops/prelu.hpp>
#include <sinter/ops/probit.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/ops/rsqrt.hpp>
#include <sinter/ops/trunc.hpp>

#include <limits>

/// Elementwise functions that are formulas there. ONNX has floats alone for most operators, so what
/// needs more digits inside (expm1 and log1p near 0, erfc far from it) is less accurate than ours:
/// to about 1e-6, or that part of the value.
namespace sinter::inline SINTER_ORDINARY::onnx {

namespace detail {

/// By the formula f of up to three operands.
template <class F>
void emit_formula(exporter& e, int id, F f) {
    elementwise_writer w(e, id);
    const auto x = [&](std::size_t k) { return term{&w, w.in[k]}; };
    if constexpr (std::is_invocable_v<F, term>) w.done(f(x(0)).name);
    else if constexpr (std::is_invocable_v<F, term, term>) w.done(f(x(0), x(1)).name);
    else w.done(f(x(0), x(1), x(2)).name);
}
/// By the formula that is the op's value here as well.
template <op_id K, int Operands>
void emit_value(exporter& e, int id) {
    if constexpr (Operands == 1) emit_formula(e, id, [](term a) { return rule<K>::value(a); });
    else if constexpr (Operands == 2) emit_formula(e, id, [](term a, term b) { return rule<K>::value(a, b); });
    else emit_formula(e, id, [](term a, term b, term c) { return rule<K>::value(a, b, c); });
}

SINTER_COLD inline void emit_expm1(exporter& e, int id) {
    emit_formula(e, id, [](term a) { return arithmetic<term>::expm1(a); });
}
SINTER_COLD inline void emit_log1p(exporter& e, int id) {
    emit_formula(e, id, [](term a) { return log(a + 1.f); });
}
SINTER_COLD inline void emit_trunc(exporter& e, int id) {
    emit_formula(e, id, [](term a) { return unary_term("Sign", a) * unary_term("Floor", abs(a)); });
}
SINTER_COLD inline void emit_erfc(exporter& e, int id) {
    emit_formula(e, id, [](term a) { return 1.f - unary_term("Erf", a); });
}
/// Below 0, or -0.
inline term is_negative(const term& a) { return (a < 0.f) | (1.f / a < 0.f); }
SINTER_COLD inline term written_atan2(term a, term b) {
    const float infinite = std::numeric_limits<float>::infinity();
    const term both = (abs(a) == infinite) & (abs(b) == infinite);
    const term ratio = select(both, unary_term("Sign", a) * unary_term("Sign", b), a / b);
    const term origin = abs(a) + abs(b) == 0.f, turned = select(is_negative(a), -3.14159265f, 3.14159265f);
    const term angle = unary_term("Atan", select(origin, a, ratio));
    return select(is_negative(b), angle + turned, angle);
}
SINTER_COLD inline void emit_atan2(exporter& e, int id) { emit_formula(e, id, written_atan2); }

/// With the sign of b: Mod of floats has that of a.
SINTER_COLD inline term written_mod(term a, term b) {
    const term rest{a.w, a.w->e.add(a.w->id, "Mod", {a.name, b.name}, {integer("fmod", 1)})};
    return select(unary_term("Sign", rest) * unary_term("Sign", b) < 0.f, rest + b, rest);
}
SINTER_COLD inline void emit_mod(exporter& e, int id) { emit_formula(e, id, written_mod); }
SINTER_COLD inline void emit_floor_div(exporter& e, int id) {
    emit_formula(e, id, [](term a, term b) {
        const term rest = written_mod(a, b);   // infinite: b is, and a has the other sign
        const term y = select(abs(rest) == std::numeric_limits<float>::infinity(), -1.f, round((a - rest) / b));
        return select(b == 0.f, a / b, y);
    });
}

/// Where x < 8: x + 8, and f of x, x + 1, ... x + 7 summed; else x, and 0.
template <class F>
std::pair<term, term> raised(const term& x, F f) {
    term sum = f(x);
    for (int k = 1; k < 8; ++k) sum = sum + f(x + static_cast<float>(k));
    const term small = x < 8.f;
    return {select(small, x + 8.f, x), select(small, sum, 0.f)};
}
inline term sine_of_pi(const term& x) { return unary_term("Sin", (x - round(x)) * 3.14159265f); }
inline term cosine_of_pi(const term& x) { return unary_term("Cos", (x - round(x)) * 3.14159265f); }
/// As our own kernels': the recurrence up, then Stirling's series, and below 0 by reflection.
SINTER_COLD inline term written_lgamma(term x) {
    const auto [z, lower] = raised(select(x < 0.f, 1.f - x, x), [](const term& a) { return log(a); });
    const term w = 1.f / z, square = w * w;
    const term y =
        (z - 0.5f) * log(z) - z + 0.918938533f + w * (1.f / 12 + square * (-1.f / 360 + square * (1.f / 1260))) - lower;
    const float infinite = std::numeric_limits<float>::infinity();
    const term sine = sine_of_pi(x), reflected = select(sine == 0.f, infinite, 1.14472989f - log(abs(sine)) - y);
    return select(abs(x) == infinite, infinite, select(x < 0.f, reflected, y));
}
SINTER_COLD inline void emit_lgamma(exporter& e, int id) { emit_formula(e, id, written_lgamma); }
SINTER_COLD inline term written_digamma(term x) {
    const auto [z, lower] = raised(select(x < 0.f, 1.f - x, x), [](const term& a) { return 1.f / a; });
    const term w = 1.f / z, square = w * w;
    const term y = log(z) - 0.5f * w - square * (1.f / 12 - square * (1.f / 120 - square * (1.f / 252))) - lower;
    const term sine = sine_of_pi(x);
    const float undefined = std::numeric_limits<float>::quiet_NaN();
    return select(x < 0.f, select(sine == 0.f, undefined, y - 3.14159265f * cosine_of_pi(x) / sine), y);
}
SINTER_COLD inline void emit_digamma(exporter& e, int id) { emit_formula(e, id, written_digamma); }

/// PRelu stretches its slope to x alone.
SINTER_COLD inline void emit_prelu(exporter& e, int id) {
    if (full_operand(e, e.operand(id, 0), e.s(id))) emit_elementwise(e, id, "PRelu");
    else emit_value<op::prelu, 2>(e, id);
}
/// By tanh, as others write it.
SINTER_COLD inline void emit_gelu_tanh(exporter& e, int id) {
    emit_formula(e, id, [](term x) {
        const term u = x * x * sinter::detail::gelu_cubic + sinter::detail::gelu_root;
        return x * (unary_term("Tanh", u * x) * 0.5f + 0.5f);
    });
}
SINTER_COLD inline void emit_gelu_tanh_slope(exporter& e, int id) {
    emit_formula(e, id, [](term x) {
        const term u = x * x * sinter::detail::gelu_cubic + sinter::detail::gelu_root;
        const term t = unary_term("Tanh", u * x), half = t * 0.5f + 0.5f;
        return x * half * (1.f - t) * (u * 3.f - 2.f * sinter::detail::gelu_root) + half;
    });
}

} // namespace detail

inline constexpr emitter function_emitters[] = {
    {op::expm1, detail::emit_expm1},
    {op::log1p, detail::emit_log1p},
    {op::trunc, detail::emit_trunc},
    {op::erfc, detail::emit_erfc},
    {op::atan2, detail::emit_atan2},
    {op::mod, detail::emit_mod},
    {op::floor_div, detail::emit_floor_div},
    {op::lgamma, detail::emit_lgamma},
    {op::digamma, detail::emit_digamma},
    {op::rsqrt, detail::emit_value<op::rsqrt, 1>},
    {op::probit, detail::emit_value<op::probit, 1>},
    {op::relu_gradient, detail::emit_value<op::relu_gradient, 2>},
    {op::gelu_tanh, detail::emit_gelu_tanh},
    {op::gelu_tanh_slope, detail::emit_gelu_tanh_slope},
    {op::prelu, detail::emit_prelu},
    {op::clip, detail::emit_value<op::clip, 3>},
    {op::hard_tanh, detail::emit_value<op::hard_tanh, 3>},
    {op::elu, detail::emit_value<op::elu, 3>},
};

} // namespace sinter::onnx
