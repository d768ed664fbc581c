// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/expr/input.hpp>
#include <sinter/ops.hpp>

/// The ops that are not in other nets of this folder, each with its edges.
namespace sinter::test {

inline constexpr float not_a_number = __builtin_nanf(""), infinite = __builtin_inff();
inline constexpr float odd_values[] = {not_a_number, infinite, -infinite, 0, 2.5f, -2.5f, 1, -3};
/// The same for each example.
constexpr tensor odd_ones(tensor x) {
    return ops::where(ops::greater(x, 9.f), x, constants<odd_values>(x, extents(8)));
}

/// All functions of elements, of [8].
inline constexpr auto functions = [](tensor x) {
    const tensor p = ops::abs(x) + 0.1f, odd = odd_ones(x), half = ops::sigmoid(x), turned = ops::reverse(x, {-1});
    const tensor a = ops::concat({ops::sin(x), ops::cos(x), ops::tan(half), ops::asin(half), ops::acos(half),
                                  ops::atan(x), ops::sinh(x), ops::cosh(x), ops::asinh(x), ops::acosh(p + 1.f),
                                  ops::atanh(half), ops::square(x), ops::reciprocal(p)});
    const tensor b = ops::concat(
        {ops::atan2(x, turned), ops::atan2(x, 0.f), ops::atan2(x * 0.f, turned), ops::erfc(x), ops::rsqrt(p),
         ops::lgamma(x * 6.f), ops::lgamma(p), ops::lgamma(p * 1000.f), ops::digamma(p), ops::digamma(p * 9.f),
         ops::probit(half), ops::random_normal(x) * 0.f, ops::pow(p, turned), ops::pow(x, 2.f), ops::pow(p, 0.3f)});
    const tensor c =
        ops::concat({ops::mod(x, turned), ops::mod(x * 20.f, 0.7f), ops::floor_div(x * 20.f, turned),
                     ops::floor_div(1.f, p), ops::floor_div(x, -0.3f), ops::clip(x, -0.5f, 0.2f),
                     ops::clip(odd, -1.f, 2.f), ops::clip(x, turned, fill_like(x, 0.3f)), ops::hard_tanh(x),
                     ops::minimum(odd, x), ops::maximum(odd, x), ops::squared_difference(x, turned)});
    const tensor d = ops::concat({ops::isnan(odd), ops::isinf(odd), ops::isfinite(odd), ops::logical_and(odd, x),
                                  ops::logical_or(odd, x * 0.f), ops::logical_xor(odd, x), ops::logical_not(odd),
                                  ops::less(odd, x), ops::less_equal(odd, 0.f), ops::equal(odd, 2.5f),
                                  ops::not_equal(odd, odd), ops::round(odd), ops::trunc(x * 3.f),
                                  ops::round_to_bfloat16(odd), ops::sign(odd)});
    const tensor e = ops::concat({ops::relu(odd), ops::relu6(x * 6.f), ops::leaky_relu(x, 0.2f), ops::prelu(x, half),
                                  ops::elu(x, 0.7f), ops::selu(x), ops::celu(x, 0.5f), ops::gelu(x), ops::gelu_tanh(x),
                                  ops::silu(x), ops::mish(x), ops::softsign(x), ops::glu(x)});
    const tensor f = ops::concat({ops::hard_sigmoid(x * 3.f), ops::hard_swish(x * 3.f), ops::threshold(x, 0.1f, -7.f),
                                  ops::log_sigmoid(x * 9.f), ops::softplus(x * 9.f), ops::where(odd, x, odd), -odd,
                                  ops::exp(odd), ops::log(odd)});
    return bundle(a, b, c, d, e, f);
};

/// Reductions, scans and sorts, of [24].
inline constexpr auto along_axes = [](tensor x) {
    const tensor m = ops::reshape(x, extents(2, 3, 4)), ties = ops::round(m), flat_ties = ops::round(x);
    const auto row = [](tensor y) { return ops::reshape(y, extents(y.shape().size())); };
    const tensor alike = m * 0.f + ops::reshape(ops::range(x, 24), extents(2, 3, 4));   // the same in each example
    const ops::sorted top = ops::top_k(ties, 2, 1), down = ops::top_k(x, 5, -1, order::ascending);
    const tensor a = ops::concat(
        {row(cumsum(m, 1)), row(cumsum(m, -1, {.exclusive = true})), row(cumsum(m, 0, {.reverse = true})),
         row(cumsum(m, -2, {.exclusive = true, .reverse = true})), row(ops::cumprod(m)),
         row(ops::cumprod(m, 0, {.exclusive = true})), row(ops::cumprod(m, 1, {.exclusive = true, .reverse = true})),
         row(linear_scan(m, m * 0.5f, 1)), row(linear_scan(m, ops::slice(m, 1, 0, 1), 0, true)),
         row(ops::gradient(sum(linear_scan(m, m, 1) * m, {0, 1, 2}), m))});
    const tensor b = ops::concat({row(sum(m, {-1})), row(mean(m, {0, 2}, keep::yes)), row(prod(m, {1})),
                                  row(prod(m, {-1, 0})), row(max(m, {0, 1})), row(ops::min(m, {-2})),
                                  row(logsumexp(m, {1})), row(ops::var(m, {0})), row(ops::stddev(m, {-1})),
                                  row(ops::l1_norm(m, {2})), row(ops::l2_norm(m, {0, 1, 2})), row(ops::all(ties, {1})),
                                  row(ops::any(ties, {-1})), row(sum(m, {batch_axis, 1}, keep::yes) * 0.f + m * 0.f),
                                  row(max(alike, {batch_axis, 1}, keep::yes) + m),
                                  row(prod(ops::greater(alike, 11.f), {batch_axis, 0}) + m)});
    const tensor c = ops::concat({row(sort(ties, 1)), row(sort(m, 0, order::descending)), row(top.values),
                                  row(down.values), row(take_along_axis(m, ops::argsort(m, 1), 1)),
                                  row(take_along_axis(m, ops::argmax(max(m, {0, 2}, keep::yes), 1, keep::yes), 1)),
                                  row(take_along_axis(m, ops::argmax(max(m, {0}, keep::yes), 1, keep::yes), 1)),
                                  row(ops::to_float(top.indices)), row(ops::to_float(down.indices))});
    return bundle(a, b, c, ops::argmax(ties, 1), ops::argmin(ties, -1, keep::yes), ops::argsort(flat_ties));
};

/// Lookups and moves, of [3, 4] and two indices.
inline constexpr auto lookups = [](tensor x, tensor i) {
    const auto row = [](tensor y) { return ops::reshape(y, extents(y.shape().size())); };
    const tensor own = cast(i, 3), columns = cast(i, 4), p = parameter(x, "p", extents(3, 4), zeros);
    const tensor same = ops::to_index(ops::range(x, 2, 1.f), 4),
        pairs = ops::reshape(cast(i, dtype::i32), extents(1, 2));
    const tensor a =
        ops::concat({row(ops::gather(x, own, 0)), row(ops::gather(x, columns, 1)), row(ops::gather(x, same, -1)),
                     row(ops::gather(p, own, 0)), row(ops::gather(p, columns, 1)), row(ops::gather_nd(x, pairs)),
                     row(ops::scatter_add(x, ops::argmax(x, 0, keep::yes), ops::slice(x, 0, 1, 1), 0)),
                     row(ops::gradient(sum(ops::gather(x, own, 0) * ops::gather(p, own, 0), {0, 1}), x))});
    const tensor b = ops::concat(
        {row(ops::tril(x, 1)), row(ops::triu(x)), row(ops::reverse(x, {0, -1})), row(ops::tile(x, {2, 1})),
         row(interpolate(ops::reshape(x, extents(2, 2, 3)), 1, 5)), row(interpolate(x, 0, 2, ops::corners::aligned)),
         row(ops::group_norm(x, 2)), row(ops::gradient(ops::group_norm(x, 2) * ops::square(x), x)),
         row(ops::space_to_depth(ops::reshape(x, extents(2, 6, 1)), 2)), row(ops::diag(ops::slice(x, 0, 0, 1))),
         row(ops::diag(x, -1)), row(ops::diagonal(x, 1)),
         row(ops::gradient(sum(ops::slice(x, {{2, part::open, -2}, {0, part::open, 3}}) * 2.f, {0, 1}), x))});
    const tensor halves = rotary(x), wide = rotary(x, {.heads = 2, .pairs = position_pairs::neighbours, .base = 100});
    const tensor image = ops::reshape(x, extents(4, 3, 1));
    const tensor c = ops::concat(
        {row(halves), row(wide), row(ops::extract_patches(image, {2, 3})),
         row(ops::extract_patches(image, {3, 2}, {.stride = {2, 1}, .padding = {1, 0, 0, 2}, .dilation = {1, 2}})),
         row(ops::gradient(sum(rotary(x) * x, {0, 1}), x)), row(ops::outer(ops::slice(x, 0, 0, 1), p))});
    return bundle(a, b, c, cast(x * 3.f, dtype::i32),
                  cast(odd_ones(ops::reshape(ops::concat({row(x), row(x)}), extents(3, 8))) * 1e9f, dtype::i32));
};

} // namespace sinter::test
