// SPDX-License-Identifier: BSL-1.0
// shows numbers: gradients of gradients
// once: graphs that test code evaluates in doubles; no kernel
// alone: its macros, and a fixture for all of the program
#define BOOST_TEST_MODULE second_derivatives_of_ops
#include <boost/test/unit_test.hpp>

#include <sinter/train/losses/categorical_hinge.hpp>
#include <sinter/train/losses/cosine_distance.hpp>
#include <sinter/train/losses/dense_softmax_cross_entropy.hpp>
#include <sinter/train/losses/hinge.hpp>
#include <sinter/train/losses/huber.hpp>
#include <sinter/train/losses/kl_divergence.hpp>
#include <sinter/train/losses/log_cosh.hpp>
#include <sinter/train/losses/mae.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/losses/poisson.hpp>
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/losses/squared_hinge.hpp>
#include <sinter/train/losses/triplet.hpp>

#include "compiler/evaluate_functions.hpp"
#include "compiler/second_order.hpp"

/// Each op that has a gradient, squared, so that what is linear has a second derivative as well:
/// its gradient and the gradient of that, in doubles, against central differences.
/// test/ops/complete.cpp looks for each op's name in these tables.
using namespace sinter;
using namespace sinter::test;

struct evaluates_all_ops {
    evaluates_all_ops() { evaluate_all_ops(); }
};
BOOST_TEST_GLOBAL_FIXTURE(evaluates_all_ops);

struct function_of_one {
    const char* name;
    tensor (*apply)(tensor);
    double low = -2, high = 2;
};
const function_of_one functions_of_one[] = {
    {"neg", [](tensor a) { return -a; }},
    {"over_batch", ops::over_batch},
    {"over_global_batch", ops::over_global_batch},
    {"abs", ops::abs},
    {"square", ops::square},
    {"exp", ops::exp},
    {"log", ops::log, 0.3, 2},
    {"sqrt", ops::sqrt, 0.3, 2},
    {"tanh", ops::tanh},
    {"sigmoid", ops::sigmoid},
    {"erf", ops::erf},
    {"erfc", ops::erfc},
    {"probit", ops::probit, 0.1, 0.9},
    {"expm1", ops::expm1},
    {"log1p", ops::log1p, -0.5, 2},
    {"reciprocal", ops::reciprocal, 0.3, 2},
    {"rsqrt", ops::rsqrt, 0.3, 2},
    {"sin", ops::sin},
    {"cos", ops::cos},
    {"tan", ops::tan, -1, 1},
    {"asin", ops::asin, -0.8, 0.8},
    {"acos", ops::acos, -0.8, 0.8},
    {"atan", ops::atan},
    {"sinh", ops::sinh},
    {"cosh", ops::cosh},
    {"asinh", ops::asinh},
    {"acosh", ops::acosh, 1.2, 3},
    {"atanh", ops::atanh, -0.8, 0.8},
    {"lgamma", ops::lgamma, 0.3, 3},
    {"gelu", ops::gelu},
    {"gelu_tanh", ops::gelu_tanh},
    {"relu", ops::relu},
    {"softplus", [](tensor a) { return ops::softplus(a) * ops::softplus(a, 3.f); }},
    {"leaky_relu", [](tensor a) { return ops::leaky_relu(a); }},
    {"elu", [](tensor a) { return ops::elu(a, 0.7f); }},
    {"selu", ops::selu},
    {"celu", [](tensor a) { return ops::celu(a, 2.f); }},
    {"silu", ops::silu},
    {"mish", ops::mish},
    {"log_sigmoid", ops::log_sigmoid},
    {"softsign", ops::softsign},
    {"hard_tanh", [](tensor a) { return ops::hard_tanh(a, -0.5f, 1.f); }},
    {"relu6", [](tensor a) { return ops::relu6(a); }, -1, 8},
    {"hard_sigmoid", ops::hard_sigmoid, -5, 5},
    {"hard_swish", ops::hard_swish, -5, 5},
    {"threshold", [](tensor a) { return ops::threshold(a, 0.5f, -2.f); }},
    {"clip", [](tensor a) { return ops::clip(a, -0.5f, 1.f); }},
    {"pow", [](tensor a) { return ops::pow(a, 2.5f) + ops::pow(1.5f, a); }, 0.3, 2},
    {"norm", [](tensor a) { return ops::norm(a, 3.f, {-1}); }},
    {"l1_norm", [](tensor a) { return ops::l1_norm(a, {-1}); }},
    {"l2_norm", [](tensor a) { return ops::l2_norm(a, {-1}); }},
    {"custom_gradient", [](tensor a) {   // the cube, by a gradient of its own
        return ops::custom_gradient([](tensor x) { return x * x * x; },
                                    [](tensor d, tensor x) { return d * 3.f * x * x; })(a);
    }},
    {"gradient", [](tensor a) { return ops::gradient(ops::exp(a) * a, a); }},
    {"stop_gradient", [](tensor a) { return a * ops::stop_gradient(ops::fill_like(a, 2)); }},
};
BOOST_AUTO_TEST_CASE(of_one_operand) {
    for (const function_of_one& f : functions_of_one) BOOST_TEST_CONTEXT(f.name) {
        second_order s;
        const tensor y = f.apply(s.par(extents(6), f.low, f.high));
        s.check(y * y);
    }
}

struct function_of_two {
    const char* name;
    tensor (*apply)(tensor, tensor);
    double low = -2, high = 2;
};
const function_of_two functions_of_two[] = {
    {"add", [](tensor a, tensor b) { return a + b; }},
    {"sub", [](tensor a, tensor b) { return a - b; }},
    {"mul", [](tensor a, tensor b) { return a * b; }},
    {"div", [](tensor a, tensor b) { return a / b; }, 0.5, 2},
    {"maximum", [](tensor a, tensor b) { return ops::maximum(a, b); }},
    {"minimum", [](tensor a, tensor b) { return ops::minimum(a, b); }},
    {"squared_difference", ops::squared_difference},
    {"atan2", [](tensor a, tensor b) { return ops::atan2(a, b); }, 0.3, 2},
    {"pow", [](tensor a, tensor b) { return ops::pow(a, b); }, 0.3, 2},
    {"mod", [](tensor a, tensor b) { return ops::mod(a, b); }, 0.3, 2},
    {"clip", [](tensor a, tensor b) { return ops::clip(a, b, ops::exp(b)); }},
    {"prelu", ops::prelu},
    {"where", [](tensor a, tensor b) { return ops::where(ops::greater(a, b), a * b, a); }},
    {"dot", [](tensor a, tensor b) { return ops::dot(a, b); }},
    {"outer", [](tensor a, tensor b) { return ops::outer(ops::reshape(a, extents(12)), b); }},
    {"linear_scan", [](tensor a, tensor b) { return ops::linear_scan(a, b) * ops::linear_scan(a, b, 0, true); }, -1, 1},
    {"glu", [](tensor a, tensor b) { return ops::glu(ops::concat(a, ops::broadcast_to(b, extents(3, 4)), 1)); }},
    {"mse", [](tensor a, tensor b) { return mse(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"mae", [](tensor a, tensor b) { return mae(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"huber", [](tensor a, tensor b) { return huber(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"log_cosh", [](tensor a, tensor b) { return log_cosh(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"hinge", [](tensor a, tensor b) { return hinge(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"squared_hinge", [](tensor a, tensor b) { return squared_hinge(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"poisson", [](tensor a, tensor b) { return poisson(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"cosine_distance", [](tensor a, tensor b) { return cosine_distance(a, ops::broadcast_to(b, extents(3, 4))); }},
    {"sigmoid_cross_entropy",
     [](tensor a, tensor b) { return sigmoid_cross_entropy(a, ops::broadcast_to(b, extents(3, 4))); }, 0.1, 0.9},
    {"dense_softmax_cross_entropy",
     [](tensor a, tensor b) { return dense_softmax_cross_entropy(a, ops::broadcast_to(b, extents(3, 4))); }, 0.1, 0.9},
    {"kl_divergence", [](tensor a, tensor b) { return kl_divergence(a, ops::broadcast_to(b, extents(3, 4))); },
     0.1, 0.9},
};
BOOST_AUTO_TEST_CASE(of_two_operands) {
    for (const function_of_two& f : functions_of_two) BOOST_TEST_CONTEXT(f.name) {
        second_order s;
        const tensor a = s.par(extents(3, 4), f.low, f.high), b = s.par(extents(4), f.low, f.high), y = f.apply(a, b);
        s.check(y * y);
    }
}

struct array_function {
    const char* name;
    tensor (*apply)(second_order&);
};
tensor both(tensor x, tensor (*f)(tensor)) { return f(x); }   // one tensor in two places
constexpr running_options from_behind{.exclusive = true, .reverse = true};

#define AS(...) [](second_order& s) { return __VA_ARGS__; }
const array_function array_functions[] = {
    {"softmax_cross_entropy", AS(softmax_cross_entropy(s.each(4), s.rows(batch_of(), 4)))},
    {"categorical_hinge", AS(categorical_hinge(s.each(4), s.rows(batch_of(), 4)))},
    {"triplet", AS(triplet(bundle(s.each(4), s.each(4), s.each(4)), {}))},
    {"sum",
     AS(both(s.each(2, 3, 2), [](tensor x) { return ops::sum(x, {1}, keep::yes) * ops::mean(x, {0}, keep::yes); }))},
    {"max",
     AS(both(s.each(2, 3, 2), [](tensor x) { return ops::max(x, {1}, keep::yes) * ops::max(x, {-1, 0}, keep::yes); }))},
    {"min", AS(ops::min(s.each(2, 3, 2), {1, 2}))},
    {"prod",
     AS(both(s.each(2, 3, 2), [](tensor x) { return ops::prod(x, {1}, keep::yes) * ops::prod(x, {0}, keep::yes); }))},
    {"softmax", AS(ops::softmax(s.each(2, 3)))},
    {"log_softmax", AS(ops::log_softmax(s.each(2, 3)))},
    {"logsumexp", AS(ops::logsumexp(s.each(2, 3), {0}))},
    {"var", AS(ops::var(s.each(2, 3), {0, 1}, 1))},
    {"stddev", AS(ops::stddev(s.each(2, 3), {-1}))},
    {"broadcast", AS(ops::broadcast_to(s.each(2, 1, 3), batch_of(2, 2, 3)))},
    {"cumsum", AS(both(s.each(2, 3), [](tensor x) { return ops::cumsum(x, 0) * ops::cumsum(x, 1, from_behind); }))},
    {"cumprod", AS(both(s.each(2, 4), [](tensor x) { return ops::cumprod(x, 1) * ops::cumprod(x, 0, from_behind); }))},
    {"sort", [](second_order& s) {
        const tensor x = s.each(3, 4);
        return ops::sort(x, 0) * ops::sort(x, 1, order::descending);
    }}, {"top_k", AS(ops::top_k(s.each(2, 5), 3).values)},
    {"matmul", AS(ops::matmul(s.each(2, 3), s.each(4, 3), transposed::no, transposed::yes))},
    {"tensordot", AS(ops::tensordot(s.each(3, 2, 2), s.par(batch_of(2, 2, 3))))},
    {"einsum", AS(ops::einsum<"ijk,jl,l->ikl">(s.each(2, 3, 2), s.par(extents(3, 2)), s.par(extents(2))))},
    {"rotary", AS(ops::rotary(s.each(3, 8), {.heads = 2}) *
                  ops::rotary(s.each(3, 8), {.heads = 2, .pairs = position_pairs::neighbours, .base = 10}))},
    {"conv1d", AS(ops::conv1d(s.each(5, 2), s.par(extents(3, 2, 2)), {.padding = padding::causal}))},
    {"conv2d", AS(ops::conv2d(s.each(4, 3, 2), s.par(extents(2, 3, 2, 2))))},
    {"conv3d", AS(ops::conv3d(s.each(3, 3, 2, 1), s.par(extents(2, 2, 2, 1, 2)), {.stride = 2}))},
    {"convolution", AS(ops::convolution(s.each(5, 4, 4), s.par(extents(2, 3, 2, 4)),
                                        {.stride = {2, 1}, .dilation = {1, 2}, .groups = 2}))},
    {"depthwise_conv2d", AS(ops::depthwise_conv2d(s.each(3, 3, 2), s.par(extents(2, 2, 2, 2))))},
    {"separable_conv2d",
     AS(ops::separable_conv2d(s.each(3, 3, 2), s.par(extents(2, 2, 2, 1)), s.par(extents(1, 1, 2, 3))))},
    {"convolution_transpose", AS(ops::convolution_transpose(s.each(2, 3, 2), s.par(extents(3, 3, 2, 2)),
                                                            {.stride = 2, .padding = 1}, {1, 0}))},
    {"max_pool", AS(ops::max_pool(s.each(5, 4, 2), 3, {.stride = 2, .padding = 1, .rounding = rounding::ceil}))},
    {"avg_pool", AS(ops::avg_pool(s.each(5, 4, 2), {3, 2}, {.stride = 2, .padding = 1}))},
    {"lp_pool", AS(ops::lp_pool(s.each(4, 4, 2), 3, 2, {.stride = 2, .padding = padding::valid}))},
    {"interpolate", AS(ops::interpolate(s.each(3, 2), 0, 5))},
    {"upsample", AS(ops::upsample_nearest(s.each(2, 2, 2), {2, 3}) * ops::upsample_bilinear(s.each(3, 2, 2), 4, 6))},
    {"group_norm", AS(ops::group_norm(s.each(2, 2, 4), 2))},
    {"rms_norm", AS(ops::rms_norm(s.each(2, 4)))},
    {"local_response_norm", AS(ops::local_response_norm(s.each(2, 4), {3, 0.5f, 0.75f, 2}))},
    {"reshape", AS(ops::reshape(s.each(2, 6), extents(3, 4)))},
    {"permute", AS(ops::permute(s.each(2, 3, 2), {2, 0, 1}))},
    {"slice", AS(ops::slice(s.each(3, 5), 1, 4, 2, -2))},
    {"concat", AS(ops::concat(s.each(2, 3), s.each(2, 1), 1))},
    {"gather_rows", AS(ops::gather_rows(s.par(extents(5, 3)), s.rows(batch_of(4), 5)))},
    {"embedding_bag", [](second_order& s) {
        const tensor i = s.rows(batch_of(2, 3), 5), w = s.par(extents(2, 3), 0.5, 1.5);
        return ops::embedding_bag(s.par(extents(5, 3)), i, {.combine = combine::sqrtn, .weights = w, .padding = 1});
    }},
    {"roll", AS(ops::roll(s.each(2, 4), 3))},
    {"reverse", AS(ops::reverse(s.each(2, 4), {0, 1}))},
    {"pad", [](second_order& s) {
        const tensor x = s.each(3, 3);
        return ops::pad(x, {{1, 0}, {0, 2}}, 0.5f) * ops::pad(x, {{0, 1}, {2, 0}}, pad_mode::reflect) *
               ops::pad(x, {{1, 0}, {1, 1}}, pad_mode::edge);
    }},
    {"tile", AS(ops::tile(s.each(2, 2), {2, 3}))},
    {"expand_dims", AS(ops::expand_dims(s.each(2, 2), 1))},
    {"squeeze", AS(ops::squeeze(s.each(2, 1, 2)))},
    {"stack", AS(ops::stack({s.each(2, 2), s.each(2, 2)}, 1))},
    {"unstack", [](second_order& s) { const auto x = ops::unstack<2>(s.each(3, 2), 1); return x[0] * x[1]; }},
    {"split", [](second_order& s) { const auto x = ops::split(s.each(2, 4), {1, 3}); return x[0] * x[1]; }},
    {"space_to_depth", AS(ops::space_to_depth(s.each(2, 4, 2), 2))},
    {"depth_to_space", AS(ops::depth_to_space(s.each(2, 1, 4), 2))},
    {"diag", AS(ops::diag(s.each(3), 1) + ops::diag(ops::diagonal(s.each(4, 4))))},
    {"tril", AS(ops::tril(s.each(3, 3), -1))},
    {"triu", AS(ops::triu(s.each(3, 3)))},
    {"gather",
     [](second_order& s) { const tensor i = s.rows(batch_of(3), 4); return ops::gather(s.each(2, 4), i, 1); }},
    {"take_along_axis", AS(ops::take_along_axis(s.each(2, 4), s.rows(batch_of(2, 2), 4), 1))},
    {"gather_nd",
     [](second_order& s) { const tensor i = s.rows(batch_of(3, 2), 2); return ops::gather_nd(s.each(2, 2, 2), i); }},
    {"scatter_add", AS(ops::scatter_add(s.each(2, 4), s.rows(batch_of(2, 3), 4), s.each(2, 3), 1))},
    {"random_permutation", AS(ops::random_shuffle(s.each(4, 2)))},
    {"extract_patches", AS(ops::extract_patches(s.each(4, 3, 2), {2, 3}, {.stride = {2, 1}}))},
};
BOOST_AUTO_TEST_CASE(of_arrays) {
    for (const array_function& f : array_functions) BOOST_TEST_CONTEXT(f.name) {
        second_order s;
        const tensor y = f.apply(s);
        s.check(y * y);
    }
}

/// Those whose gradient is a kernel without one of its own name it: nothing is taken for zeros.
BOOST_AUTO_TEST_CASE(none_is_not_taken_for_zero) {
    const auto refused = [](tensor y, tensor x, const op_name& by) {
        const tensor d = ops::gradient(y, x);
        BOOST_REQUIRE(d.ok());
        ops::gradient(d * d, x);
        BOOST_TEST((x.g->err.what == fault_kind::no_gradient));
        BOOST_TEST((x.g->err.where == by));
    };
    second_order t, u;
    const tensor z = t.each(4, 3), labels = t.rows(batch_of(2), 3);
    refused(ops::ctc_loss(z, labels), z, op::ctc_loss);
    const tensor a = u.par(extents(3), 0.5, 2);
    refused(ops::digamma(a), a, op::trigamma);
}
BOOST_AUTO_TEST_CASE(loops_are_refused) {
    second_order s;
    const tensor x = s.par(extents(3, 2));
    ops::gradient(ops::map_fn([](tensor row) { return row * row; }, x), x);
    BOOST_TEST((s.g.err.what == fault_kind::gradient_through_loop));
}
