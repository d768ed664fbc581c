// SPDX-License-Identifier: BSL-1.0
// once: kernels that other tests share, against numbers from elsewhere
// alone: its macros
#define BOOST_TEST_MODULE recorded_arrays
#include <boost/test/unit_test.hpp>

#include <sinter/ops.hpp>

#include "fixtures/recorded_ops.hpp"
#include "support/elementwise.hpp"
#include "support/records.hpp"

/// Reductions, products, moves and loops against PyTorch's, NumPy's and TensorFlow's numbers. Whole
/// operands come as floats.
using namespace sinter;
using namespace sinter::test;
namespace f = sinter::fixture::recorded;

#define AS(...) [](tensor a, tensor, tensor) { return __VA_ARGS__; }
#define AS_BOTH(...) [](tensor a, tensor b, tensor) { return __VA_ARGS__; }
#define AS_THREE(...) [](tensor a, tensor b, tensor c) { return __VA_ARGS__; }

constexpr float shares[] = {1, -2, 0.5f};
constexpr tensor weighed(tensor a) { return a * ops::constants<shares>(a, extents(3)); }

constexpr recorded_op over_axes[] = {
    {&f::sum, AS(ops::sum(a, {1}))}, {&f::mean, AS(ops::mean(a, {0, 2}, keep::yes))}, {&f::max, AS(ops::max(a, {1}))},
    {&f::min, AS(ops::min(a, {0}))}, {&f::softmax, AS(weighed(ops::softmax(a))), 2e-6, 1e-3},
    {&f::log_softmax, AS(weighed(ops::log_softmax(a)))}, {&f::glu, AS(ops::glu(a))},
    {&f::broadcast, AS(ops::broadcast_to(a, extents(2, 4, 3)))},
    {&f::linear_scan, AS_BOTH(ops::linear_scan(a, b)), 2e-6, 1},
    {&f::argmax, AS(ops::to_float(ops::argmax(a, 1)))}, {&f::argmin, AS(ops::to_float(ops::argmin(a, 0)))},
};
constexpr recorded_op products[] = {
    {&f::matmul, AS_BOTH(ops::matmul(a, b, transposed::yes)), 2e-6, 1}, {&f::dot, AS_BOTH(ops::dot(a, b)), 2e-6, 1},
    {&f::outer, AS_BOTH(ops::outer(a, b))}, {&f::tensordot, AS_BOTH(ops::tensordot(a, b)), 2e-6, 1},
    {&f::einsum, AS_THREE(ops::einsum<"ijk,jl,l->ikl">(a, b, c)), 2e-6, 1},
    {&f::einsum_diagonal, AS(ops::einsum<"ii->i">(a))}, {&f::rotary, AS(ops::rotary(a)), 2e-6, 1},
    {&f::rotary_of_neighbours, AS(ops::rotary(a, {.pairs = position_pairs::neighbours, .base = 100})), 2e-6, 1},
    {&f::conv1d, AS_BOTH(ops::conv1d(a, b, {.stride = 2, .padding = 2, .dilation = 2})), 2e-6, 1},
    {&f::conv3d, AS_BOTH(ops::conv3d(a, b, {.stride = {1, 2, 1}, .padding = {1, 1, 0, 0, 1, 1}})), 2e-6, 1},
    {&f::depthwise_conv2d, AS_BOTH(ops::depthwise_conv2d(a, b, {.padding = {1, 1, 0, 0}})), 2e-6, 1},
    {&f::separable_conv2d, AS_THREE(ops::separable_conv2d(a, b, c, {.padding = padding::valid})), 2e-6, 1},
    {&f::conv2d_same_1_5, AS_BOTH(ops::conv2d(a, b)), 2e-6, 1},
    {&f::conv2d_same_2_5, AS_BOTH(ops::conv2d(a, b, {.stride = 2})), 2e-6, 1},
    {&f::conv2d_same_2_6, AS_BOTH(ops::conv2d(a, b, {.stride = 2})), 2e-6, 1},
    {&f::avg_pool_same, AS(ops::avg_pool(a, {3, 2}, {.stride = 2})), 2e-6, 1},
    {&f::conv1d_causal, AS_BOTH(ops::conv1d(a, b, {.stride = 2, .padding = padding::causal})), 2e-6, 1},
    {&f::extract_patches, AS(ops::extract_patches(a, {2, 3}, {.stride = {2, 1}, .padding = {1, 1, 0, 0}}))},
};
constexpr recorded_op moves[] = {
    {&f::reshape, AS(ops::reshape(a, extents(2, 6)))}, {&f::permute, AS(ops::permute(a, {2, 0, 1}))},
    {&f::slice, AS(ops::slice(a, 1, 3, 2, -2))}, {&f::concat, AS_BOTH(ops::concat(a, b, 0))},
    {&f::roll, AS(ops::roll(a, 3, 1))}, {&f::reverse, AS(ops::reverse(a, {0, 1}))},
    {&f::pad, AS(ops::pad(a, {{0, 1}, {1, 2}}, 0.5f))},
    {&f::pad_reflect, AS(ops::pad(a, {{2, 1}, {3, 1}}, pad_mode::reflect))},
    {&f::pad_edge, AS(ops::pad(a, {{1, 4}, {5, 0}}, pad_mode::edge))}, {&f::tile, AS(ops::tile(a, {2, 3}))},
    {&f::expand_dims, AS(ops::expand_dims(a, 1))}, {&f::squeeze, AS(ops::squeeze(a))},
    {&f::stack, AS_BOTH(ops::stack({a, b}, 1))},
    {&f::unstack, AS(ops::unstack<4>(a, 1)[2])}, {&f::split, AS(ops::split(a, {1, 3}, 1)[1])},
    {&f::space_to_depth, AS(ops::space_to_depth(a, 2))}, {&f::depth_to_space, AS(ops::depth_to_space(a, 2))},
    {&f::diag, AS(ops::diag(a, 1))}, {&f::diagonal, AS(ops::diagonal(a, -1))}, {&f::tril, AS(ops::tril(a, -1))},
    {&f::triu, AS(ops::triu(a, 1))},
};
constexpr recorded_op places[] = {
    {&f::gather, AS_BOTH(ops::gather(a, ops::cast(b, 3)))},
    {&f::gather_rows, AS_BOTH(ops::gather_rows(a, ops::cast(b, 3)))},
    {&f::take_along_axis, AS_BOTH(ops::take_along_axis(a, ops::cast(b, 4), 1))},
    {&f::gather_nd, AS_BOTH(ops::gather_nd(a, ops::cast(b, dtype::i32)))},
    {&f::scatter_add, AS_THREE(ops::scatter_add(a, ops::cast(c, 4), b, 1))},
    {&f::embedding_bag_sum, AS_BOTH(ops::embedding_bag(a, ops::cast(b, 5), {.padding = 1}))},
    {&f::embedding_bag_mean, AS_BOTH(ops::embedding_bag(a, ops::cast(b, 5), {.combine = combine::mean, .padding = 1}))},
    {&f::embedding_bag, AS_THREE(ops::embedding_bag(a, ops::cast(c, 5), {.weights = b}))},
    {&f::one_hot, AS(ops::one_hot(ops::cast(a, 4), 4))},
    {&f::cast, AS(ops::cast(ops::cast(a, dtype::i32), dtype::f32))},
    {&f::to_index, AS(ops::to_float(ops::to_index(a, 5)))}, {&f::eye, AS(ops::eye(a, 3, 4, 1) * a)},
    {&f::range, AS(ops::range(a, 5, 1.5f, 0.5f) * a)}, {&f::fill, AS(ops::fill(a, extents(2, 3), 0.75f) * a)},
    {&f::sinusoidal_positions, AS(ops::sinusoidal_positions(a, 5, 6) * a)},
};
constexpr recorded_op gradients_and_loops[] = {
    {&f::stop_gradient, AS(a * ops::stop_gradient(a))},
    {&f::gradient, AS(ops::gradient(ops::exp(a) * a * a, a))},
    {&f::custom_gradient,
     AS(ops::custom_gradient([](tensor x) { return x * x * x; }, [](tensor d, tensor x) { return d * x; })(a))},
    {&f::scan, AS_BOTH(ops::scan(
        [=](bundle h, bundle x) {
            const tensor next = ops::tanh(x[0] + b * h[0]);
            return scan_step{next, next};
        }, ops::fill(a, extents(2), 0), a).outputs[0])},
    {&f::map_fn, AS(ops::map_fn([](tensor row) { return ops::sum(row, {0}, keep::yes) * row; }, a))},
    {&f::cond, AS_BOTH(ops::cond(ops::greater(a, 0.f), [](bundle x) -> bundle { return x[0] * x[0]; },
                                 [](bundle x) -> bundle { return x[0] * 3.f; }, b)[0])},
    {&f::while_loop, AS(ops::while_loop([](bundle x) { return ops::less(ops::max(ops::abs(x[0]), {0}), 20.f); },
                                        [](bundle x) -> bundle { return x[0] * 2.f; }, a, 12)[0])},
};
BOOST_AUTO_TEST_CASE(over_their_axes) { check_records<over_axes>(); }
BOOST_AUTO_TEST_CASE(of_matrices_and_windows) { check_records<products>(); }
BOOST_AUTO_TEST_CASE(moved) { check_records<moves>(); }
BOOST_AUTO_TEST_CASE(at_computed_places) { check_records<places>(); }
BOOST_AUTO_TEST_CASE(gradients_within_and_loops) { check_records<gradients_and_loops>(); }
