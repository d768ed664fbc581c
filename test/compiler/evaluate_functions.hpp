// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops.hpp>
#include <sinter/ops/detail/layer_norm.hpp>

#include "compiler/evaluate.hpp"

/// The meaning of all ops that evaluate.hpp leaves out, in double precision: by the standard
/// library where it has the function.
namespace sinter::test {
using namespace compiler;

namespace detail {

/// Derivative `order` (0 or 1) of digamma: from x + 10 on by its asymptotic series, below by the recurrence.
inline double digamma_of(double x, int order) {
    double y = 0;
    for (; x < 12; x += 1) y += order ? 1 / (x * x) : -1 / x;
    const double r = 1 / x, s = r * r;
    if (order) return y + r + s / 2 + r * s * (1. / 6 - s * (1. / 30 - s * (1. / 42 - s * (1. / 30 - s * 5 / 66))));
    return y + std::log(x) - r / 2 - s * (1. / 12 - s * (1. / 120 - s * (1. / 252 - s * (1. / 240 - s / 132))));
}
inline double normal_quantile(double p) {   // bisection
    double low = -40, high = 40;
    for (int i = 0; i < 80; ++i) (std::erfc(-(low + high) / 2 / std::sqrt(2.)) / 2 < p ? low : high) = (low + high) / 2;
    return (low + high) / 2;
}
inline double gelu_tanh_of(double x, int order) {
    const double r = std::sqrt(2 / M_PI), t = std::tanh(r * (x + 0.044715 * x * x * x));
    return order ? (1 + t) / 2 + x / 2 * (1 - t * t) * r * (1 + 3 * 0.044715 * x * x) : x / 2 * (1 + t);
}
inline double kept_within(double a, double low, double high) { return std::fmin(high, std::fmax(low, a)); }

} // namespace detail

inline double function_value(op_id k, double a, double b, double c) {
    switch (k) {
        case op::abs: return std::abs(a);
        case op::sign: return (a > 0) - (a < 0);
        case op::reciprocal: return 1 / a;
        case op::rsqrt: return 1 / std::sqrt(a);
        case op::expm1: return std::expm1(a);
        case op::log1p: return std::log1p(a);
        case op::erfc: return std::erfc(a);
        case op::probit: return detail::normal_quantile(a);
        case op::sin: return std::sin(a);
        case op::cos: return std::cos(a);
        case op::tan: return std::tan(a);
        case op::asin: return std::asin(a);
        case op::acos: return std::acos(a);
        case op::atan: return std::atan(a);
        case op::sinh: return std::sinh(a);
        case op::cosh: return std::cosh(a);
        case op::asinh: return std::asinh(a);
        case op::acosh: return std::acosh(a);
        case op::atanh: return std::atanh(a);
        case op::lgamma: return std::lgamma(a);
        case op::digamma: return detail::digamma_of(a, 0);
        case op::trigamma: return detail::digamma_of(a, 1);
        case op::gelu_tanh: return detail::gelu_tanh_of(a, 0);
        case op::gelu_tanh_slope: return detail::gelu_tanh_of(a, 1);
        case op::softplus: return std::log1p(std::exp(-std::abs(a))) + std::fmax(a, 0);
        case op::softsign: return a / (1 + std::abs(a));
        case op::atan2: return std::atan2(a, b);
        case op::pow: return std::pow(a, b);
        case op::floor_div: return std::floor(a / b);
        case op::mod: return a - b * std::floor(a / b);
        case op::prelu: return a > 0 ? a : a * b;
        case op::elu: return a > 0 ? a : b * std::expm1(a * c);
        case op::clip:
        case op::hard_tanh: return detail::kept_within(a, b, c);
        case op::greater_equal: return a >= b;
        case op::not_equal: return a != b;
        case op::logical_and: return a != 0 && b != 0;
        case op::logical_or: return a != 0 || b != 0;
        default: return NAN;
    }
}

inline bool other_value(const node& n, const shape* in, const std::vector<const double*>& x, int batch, numbers& y) {
    const shape& s = n.s;
    const int size = count(s, batch);
    switch (n.k) {
        case op::custom_gradient:
        case op::layer_normalized:
        case op::group_normalized: y.assign(x[0], x[0] + size); return true;
        case op::table: {
            std::vector<float> held(y.size());
            n.fill(held.data(), s, n.f);
            y.assign(held.begin(), held.end());
            return true;
        }
        case op::rotary:   // pairs of halves of each head, or of neighbours, turned one way or the other
            for (int i = 0, half = in[1].d[2]; i < size; ++i) {
                const int T = in[1].d[1], t = i / (s.size() / s.d[0]) % T, e = i % (2 * half),
                    pair = n.p[1] ? e % half : e / 2;
                const bool first = n.p[1] ? e < half : e % 2 == 0;
                const double c = x[1][t * half + pair], sine = x[1][(T + t) * half + pair] * (n.p[2] ? -1 : 1);
                const int other = first ? i + (n.p[1] ? half : 1) : i - (n.p[1] ? half : 1);
                y[i] = x[0][i] * c + x[0][other] * (first ? -sine : sine);
            }
            return true;
        case op::local_response_norm:
        case op::local_response_norm_gradient: {
            const int C = s.last(), before = n.p[0] / 2, behind = (n.p[0] - 1) / 2;
            const double a = double(std::bit_cast<float>(n.p[1])) / n.p[0], beta = std::bit_cast<float>(n.p[2]),
                k = std::bit_cast<float>(n.p[3]);
            const bool forward = n.k == op::local_response_norm;
            const double* const of = x[forward ? 0 : 1];
            const auto sum = [&](int i) {
                double squares = 0;
                for (int c = std::max(0, i % C - before); c <= std::min(C - 1, i % C + behind); ++c) {
                    const double v = of[i - i % C + c];
                    squares += v * v;
                }
                return k + a * squares;
            };
            for (int i = 0; i < size; ++i) {
                const double f = std::pow(sum(i), -beta);
                if (forward) {
                    y[i] = of[i] * f;
                    continue;
                }
                y[i] += x[0][i] * f;   // and what this result takes from the channels around
                for (int c = std::max(0, i % C - before); c <= std::min(C - 1, i % C + behind); ++c)
                    y[i - i % C + c] -= x[0][i] * of[i] * 2 * a * beta * f / sum(i) * of[i - i % C + c];
            }
            return true;
        }
        case op::extract_patches:
        case op::add_patches: {
            const bool forward = n.k == op::extract_patches;
            const shape &image = forward ? in[0] : s, &patches = forward ? s : in[0];
            const int C = image.d[2], kh = n.p[0], kw = n.p[1];
            for (int i = 0; i < count(patches, batch); ++i) {
                const int c = i % C, tap = i / C % (kh * kw), column = i / patches.d[2] % patches.d[1];
                const int row = i / patches.d[2] / patches.d[1] % patches.d[0], b = i / patches.size();
                const int p = row * n.p[2] - n.p[6] + tap / kw * n.p[4],
                    q = column * n.p[3] - n.p[7] + tap % kw * n.p[5];
                if (p < 0 || q < 0 || p >= image.d[0] || q >= image.d[1]) continue;
                const int at = detail::pixel(image, b, p, q) + c;
                if (forward) y[i] = x[0][at];
                else y[at] += x[0][i];
            }
            return true;
        }
        default: return false;
    }
}

/// Makes evaluate() know them.
inline void evaluate_all_ops() {
    more_functions = function_value;
    more_values = other_value;
}

} // namespace sinter::test
