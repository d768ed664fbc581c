// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/ops.hpp>

#include "compiler/evaluate_functions.hpp"

/// Ops that random graphs are made of, by number: of a tensor, and of another that broadcasts with it.
namespace sinter::test {

inline const bool evaluated = (evaluate_all_ops(), true);   ///< what they mean is known
inline constexpr int unary_ops = 26, binary_ops = 10, row_ops = 12;

/// Of every size of x: where a function ends, it is given what lies within.
inline tensor unary_op(tensor x, int which) {
    const tensor small = ops::tanh(x) * 0.75f, positive = x * x + 0.25f;
    switch (which) {
        case 0: return ops::gelu(x);
        case 1: return ops::gelu_tanh(x);
        case 2: return ops::softplus(x);
        case 3: return ops::softsign(x);
        case 4: return ops::elu(x, 0.5f);
        case 5: return ops::hard_tanh(x, -0.5f, 0.75f);
        case 6: return ops::erfc(x);
        case 7: return ops::expm1(small);
        case 8: return ops::log1p(positive);
        case 9: return ops::sin(x) + ops::cos(small);
        case 10: return ops::atan(x);
        case 11: return ops::abs(x);
        case 12: return ops::sign(x) * x;
        case 13: return ops::rsqrt(positive);
        case 14: return ops::reciprocal(positive);
        case 15: return ops::asin(small);
        case 16: return ops::acos(small);
        case 17: return ops::atanh(small);
        case 18: return ops::asinh(x);
        case 19: return ops::acosh(positive + 1.f);
        case 20: return ops::sinh(small) * ops::cosh(small);
        case 21: return ops::tan(small);
        case 22: return ops::lgamma(positive);
        case 23: return ops::digamma(positive) * 0.3f;
        case 24: return ops::probit(ops::sigmoid(x));
        default: return ops::exp(ops::tanh(x)) / 2.f - ops::maximum(x, 0.25f);
    }
}
inline tensor binary_op(tensor a, tensor b, int which) {
    switch (which) {
        case 0: return ops::minimum(a, b);
        case 1: return ops::maximum(a, b);
        case 2: return ops::pow(a * a + 0.25f, ops::tanh(b));
        case 3: return ops::atan2(a + 2.f, b);
        case 4: return ops::prelu(a, b);
        case 5: return ops::clip(a, ops::tanh(b) - 1.f, ops::tanh(b) + 0.5f);
        case 6: return ops::mod(a, b * b + 0.5f);
        case 7: return ops::floor_div(a, b * b + 0.5f) * 0.25f;
        case 8: return ops::logical_or(ops::greater(a, 0.5f), ops::less_equal(b, 0.f)) * a;
        default: return ops::not_equal(a, b) * b + ops::logical_and(a, ops::greater_equal(b, a)) * a;
    }
}
/// Of whole rows, or of axes. x is [.., n] with n > 1.
inline tensor row_op(tensor x, int which) {
    const shape s = x.shape();
    const int first = s.d[0], n = s.last();
    switch (which) {
        case 0: return ops::log_softmax(x);
        case 1: return ops::rms_norm(x);
        case 2: return x - ops::var(x, {-1}, 0, keep::yes);
        case 3: return ops::stddev(ops::concat(x, x + 1.f), {-1}, 0, keep::yes) * x;
        case 4: return ops::min(x, {0}, keep::yes) + x;
        case 5: return ops::l2_norm(x, {-1}, keep::yes) - x;
        case 6: return ops::norm(x, 3.f, {0}, keep::yes);
        case 7: return s.rank > 1 ? ops::group_norm(x, n % 2 ? 1 : 2) : ops::sort(x);
        case 8: return s.rank > 1 ? ops::tanh(ops::matmul(x, x, transposed::no, transposed::yes)) : ops::sort(x);
        case 9: return s.rank > 1 ? ops::local_response_norm(x, {.size = 3, .alpha = 0.5f}) : ops::sort(x);
        case 10: return ops::interpolate(x, 0, first % 5 + 1);
        default: return ops::linear_scan(x, ops::tanh(x) * 0.5f, 0, n % 2);
    }
}

} // namespace sinter::test
