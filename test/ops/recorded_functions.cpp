// SPDX-License-Identifier: BSL-1.0
// once: formulas alone, in kernels that other tests share
// alone: its macros
#define BOOST_TEST_MODULE recorded_functions
#include <boost/test/unit_test.hpp>

#include <sinter/ops.hpp>

#include "fixtures/recorded_ops.hpp"
#include "support/elementwise.hpp"
#include "support/records.hpp"

/// Elementwise ops against PyTorch's and NumPy's numbers: infinities, NaN, zeros of both signs,
/// ties, kinks, what lies outside of a function's domain.
using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::recorded;

#define AS(...) [](tensor a, tensor, tensor) { return __VA_ARGS__; }
#define AS_BOTH(...) [](tensor a, tensor b, tensor) { return __VA_ARGS__; }

constexpr recorded_op functions[] = {
    {&f::neg, AS(-a)}, {&f::abs, AS(ops::abs(a))}, {&f::square, AS(ops::square(a))}, {&f::exp, AS(ops::exp(a))},
    {&f::log, AS(ops::log(a))}, {&f::sqrt, AS(ops::sqrt(a))}, {&f::tanh, AS(ops::tanh(a))},
    {&f::sigmoid, AS(ops::sigmoid(a))}, {&f::erf, AS(ops::erf(a))}, {&f::erfc, AS(ops::erfc(a))},
    {&f::probit, AS(ops::probit(a))}, {&f::expm1, AS(ops::expm1(a))}, {&f::log1p, AS(ops::log1p(a))},
    {&f::reciprocal, AS(ops::reciprocal(a))}, {&f::rsqrt, AS(ops::rsqrt(a))}, {&f::sin, AS(ops::sin(a))},
    {&f::cos, AS(ops::cos(a))}, {&f::tan, AS(ops::tan(a))}, {&f::asin, AS(ops::asin(a))}, {&f::acos, AS(ops::acos(a))},
    {&f::atan, AS(ops::atan(a))}, {&f::sinh, AS(ops::sinh(a))}, {&f::cosh, AS(ops::cosh(a))},
    {&f::asinh, AS(ops::asinh(a))}, {&f::acosh, AS(ops::acosh(a))}, {&f::atanh, AS(ops::atanh(a))},
};
constexpr recorded_op activations[] = {
    {&f::lgamma, AS(ops::lgamma(a))}, {&f::digamma, AS(ops::digamma(a))}, {&f::gelu, AS(ops::gelu(a)), 2e-7, 1},
    {&f::gelu_tanh, AS(ops::gelu_tanh(a)), 2e-7, 1}, {&f::relu, AS(ops::relu(a))}, {&f::softplus, AS(ops::softplus(a))},
    {&f::leaky_relu, AS(ops::leaky_relu(a))}, {&f::elu, AS(ops::elu(a))}, {&f::selu, AS(ops::selu(a))},
    {&f::celu, AS(ops::celu(a, 2.f))}, {&f::silu, AS(ops::silu(a))}, {&f::mish, AS(ops::mish(a))},
    {&f::log_sigmoid, AS(ops::log_sigmoid(a))}, {&f::softsign, AS(ops::softsign(a))},
    {&f::hard_tanh, AS(ops::hard_tanh(a))}, {&f::relu6, AS(ops::relu6(a))},
    {&f::hard_sigmoid, AS(ops::hard_sigmoid(a))}, {&f::hard_swish, AS(ops::hard_swish(a))},
    {&f::threshold, AS(ops::threshold(a, 0.5f, -2.f))}, {&f::clip, AS(ops::clip(a, -0.5f, 1.5f))},
    {&f::sign, AS(ops::sign(a))}, {&f::floor, AS(ops::floor(a))}, {&f::ceil, AS(ops::ceil(a))},
    {&f::round, AS(ops::round(a))}, {&f::round_to_bfloat16, AS(ops::round_to_bfloat16(a))},
    {&f::trunc, AS(ops::trunc(a))}, {&f::isnan, AS(ops::isnan(a))}, {&f::isinf, AS(ops::isinf(a))},
    {&f::isfinite, AS(ops::isfinite(a))}, {&f::logical_not, AS(ops::logical_not(a))},
};
constexpr recorded_op of_two[] = {
    {&f::add, AS_BOTH(a + b)}, {&f::sub, AS_BOTH(a - b)}, {&f::mul, AS_BOTH(a * b)}, {&f::div, AS_BOTH(a / b)},
    {&f::maximum, AS_BOTH(ops::maximum(a, b))}, {&f::minimum, AS_BOTH(ops::minimum(a, b))},
    {&f::squared_difference, AS_BOTH(ops::squared_difference(a, b))}, {&f::atan2, AS_BOTH(ops::atan2(a, b))},
    {&f::pow, AS_BOTH(ops::pow(a, b))}, {&f::mod, AS_BOTH(ops::mod(a, b))},
    {&f::floor_div, AS_BOTH(ops::floor_div(a, b))}, {&f::where, AS_BOTH(ops::where(ops::greater(a, b), a, b))},
    {&f::prelu, AS_BOTH(ops::prelu(a, b))},
    {&f::clip_by_tensors, [](tensor a, tensor b, tensor c) { return ops::clip(a, b, c); }},
    {&f::equal, AS_BOTH(ops::equal(a, b))}, {&f::not_equal, AS_BOTH(ops::not_equal(a, b))},
    {&f::greater, AS_BOTH(ops::greater(a, b))}, {&f::greater_equal, AS_BOTH(ops::greater_equal(a, b))},
    {&f::less, AS_BOTH(ops::less(a, b))}, {&f::less_equal, AS_BOTH(ops::less_equal(a, b))},
    {&f::logical_and, AS_BOTH(ops::logical_and(a, b))}, {&f::logical_or, AS_BOTH(ops::logical_or(a, b))},
    {&f::logical_xor, AS_BOTH(ops::logical_xor(a, b))},
};
constexpr int nan_place = 25;
constexpr intended own[] = {
    {"abs_a", nan_place, no_number}, {"elu_a", nan_place, no_number}, {"selu_a", nan_place, no_number},
    {"celu_a", nan_place, no_number}, {"hard_sigmoid_a", nan_place, 1. / 6}, {"hard_swish_a", nan_place, no_number},
    {"clip_a", nan_place, 1}, {"softsign_a", 0, 0}, {"softsign_a", 24, 0},   // the limits at infinity
    // at a bound, which takes the whole gradient
    {"clip_by_tensors_a", 28, 0}, {"clip_by_tensors_a", 30, 0}, {"clip_by_tensors_a", 44, 0},
    {"clip_by_tensors_a", 48, 0}, {"clip_by_tensors_a", 63, 0}, {"clip_by_tensors_b", 28, 1},
    {"clip_by_tensors_b", 30, 1}, {"clip_by_tensors_b", 63, 1}, {"clip_by_tensors_c", 44, 1},
    {"clip_by_tensors_c", 48, 1},
};
constexpr view<const intended> differences{own, static_cast<int>(std::size(own))};

BOOST_AUTO_TEST_CASE(of_one_operand) { check_records<functions>(differences); }
BOOST_AUTO_TEST_CASE(of_one_operand_more) { check_records<activations>(differences); }
BOOST_AUTO_TEST_CASE(of_two_operands) { check_records<of_two>(differences); }
