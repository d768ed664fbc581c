// SPDX-License-Identifier: BSL-1.0
// shows files: an exported net computes what Sinter computes, op by op and in loops
// needs: python
// once: what a file holds does not depend on the compiler
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE onnx_special_values
#include "support/onnx_run.hpp"
#include <sinter/expr/input.hpp>
#include <sinter/ops.hpp>

// Zeros of both signs, infinities, NaN, what is tiny and what is huge, in onnxruntime: of every elementwise op, and of
// pairs of them.
using namespace sinter;
using test::agrees;

namespace {
constexpr float none = __builtin_nanf(""), infinite = __builtin_inff();
constexpr float odd_values[] = {none, infinite, -infinite, 0, -0.f, 1, -1, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 3, -7,
                                100, -100, 1e-20f, -1e-20f, 1e20f, -1e20f, 3e38f, -3e38f, 16777216, 0.99999994f};
constexpr int n = 24;
/// The same for each example.
constexpr tensor odd(tensor x) { return ops::where(ops::greater(x, 9.f), x, constants<odd_values>(x, extents(n))); }

constexpr auto unary = features<n> >> [](tensor x) {
    const tensor a = odd(x);
    const tensor first =
        ops::concat({ops::abs(a), ops::acos(a), ops::acosh(a), ops::asin(a), ops::asinh(a), ops::atan(a),
                     ops::atanh(a), ops::ceil(a), ops::floor(a), ops::round(a), ops::trunc(a), ops::sign(a)});
    const tensor second =
        ops::concat({ops::cosh(a), ops::sinh(a), ops::erf(a), ops::erfc(a), ops::exp(a), ops::expm1(a),
                     ops::log(a), ops::log1p(a), ops::sqrt(a), ops::rsqrt(a), ops::reciprocal(a), ops::square(a)});
    const tensor third =
        ops::concat({ops::relu(a), ops::relu6(a), ops::leaky_relu(a, 0.2f), ops::elu(a, 0.7f), ops::selu(a),
                     ops::celu(a, 0.5f), ops::hard_sigmoid(a), ops::hard_swish(a), ops::hard_tanh(a),
                     ops::threshold(a, 0.1f, -7.f), ops::clip(a, -1.f, 2.f), ops::softsign(a)});
    const tensor fourth =
        ops::concat({ops::sigmoid(a), ops::tanh(a), ops::softplus(a), ops::log_sigmoid(a), ops::silu(a),
                     ops::gelu(a), ops::gelu_tanh(a), ops::mish(a), ops::lgamma(a), ops::digamma(a),
                     ops::probit(a), ops::round_to_bfloat16(a)});
    return bundle(first, second, third, fourth);
};
constexpr auto binary = features<n> >> [](tensor x) {
    const tensor a = ops::reshape(odd(x), extents(n, 1)), b = ops::reshape(odd(x), extents(1, n));
    const tensor first =
        ops::concat({a + b, a - b, a * b, a / b, ops::maximum(a, b), ops::minimum(a, b), ops::pow(a, b),
                     ops::squared_difference(a, b), ops::prelu(a, b), ops::where(a, b, 2.f)});
    const tensor second = ops::concat({ops::mod(a, b), ops::floor_div(a, b)}), third = ops::atan2(a, b);
    const tensor fourth = ops::concat({ops::less(a, b), ops::less_equal(a, b), ops::equal(a, b), ops::logical_and(a, b),
                                       ops::logical_or(a, b), ops::logical_xor(a, b)});
    return bundle(first, second, third, fourth);
};
} // namespace

BOOST_AUTO_TEST_CASE(of_one_operand) { agrees<unary>(); }
BOOST_AUTO_TEST_CASE(of_two_operands) { agrees<binary>(); }
