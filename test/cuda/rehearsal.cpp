// SPDX-License-Identifier: BSL-1.0
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE cuda_rehearsal
#include <boost/test/unit_test.hpp>
#include <sinter/layers/channel_norm.hpp>
#include <sinter/layers/convolution.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>

#include "cuda/as_on_cpu.hpp"
#include "cuda/nets.hpp"

// Every kind of kernel generated for GPUs, run by the host, against the CPU's kernels, which are
// vectors, packed weights and other algorithms: whole training steps, compared weight by weight.
using namespace sinter;
using test::as_on_cpu;
using test::examples;

BOOST_AUTO_TEST_CASE(dropout_draws_the_same_numbers) {
    test::fixture_batch b;
    as_on_cpu<8>(test::quickstart, softmax_cross_entropy, adam{}, b.of_step(0));
}
BOOST_AUTO_TEST_CASE(normalisation_and_average_pools) {
    constexpr auto net = image<9, 7, 3> >> conv2d<8, 3, window{.stride = 2}> >> batch_norm >> relu >> avg_pool<2>
        >> layer_norm >> global_avg_pool >> dense<10>;
    as_on_cpu<6>(net, softmax_cross_entropy, momentum{.learning_rate = 0.05f}, examples(6, 9 * 7 * 3).view());
}
BOOST_AUTO_TEST_CASE(odd_convolutions_and_overlapping_pools) {
    constexpr auto net = image<11, 10, 2> >> conv2d<5, 4> >> gelu
        >> max_pool<3, window{.stride = 2, .padding = padding::same}>
        >> conv2d<7, 2, window{.stride = 3, .padding = padding::valid}> >> activation::tanh >> flatten >> dense<10>;
    as_on_cpu<5>(net, softmax_cross_entropy, adamw{}, examples(5, 220).view());
}
BOOST_AUTO_TEST_CASE(windows_of_channels) {
    constexpr auto net = image<5, 4, 3> >> conv2d<9, 3> >> local_response_norm<4, 2., 0.6> >> relu
        >> local_response_norm<5, 2.> >> max_pool<2> >> flatten >> dense<10>;
    as_on_cpu<5>(net, softmax_cross_entropy, momentum{.learning_rate = 0.05f}, examples(5, 60).view());
}
BOOST_AUTO_TEST_CASE(groups_dilation_and_windows_of_all_kinds) {
    constexpr window two{.stride = {2, 1}, .padding = {1, 0, 2, 1}, .dilation = {1, 2}, .groups = 2};
    constexpr auto net = image<9, 8, 2> >> conv2d<6, per_axis(3, 2), two> >> relu >> depthwise_conv2d<3>
        >> avg_pool<per_axis(2, 3),
                    window{.stride = {1, 2}, .padding = 1, .rounding = rounding::ceil, .count_padding = true}>
        >> conv2d_transpose<3, 3, window{.stride = 2, .groups = 3}> >> max_pool<per_axis(1, 2), window{.stride = 1}>
        >> flatten >> dense<10>;
    as_on_cpu<4>(net, softmax_cross_entropy, momentum{.learning_rate = 0.02f}, examples(4, 144).view());
}
BOOST_AUTO_TEST_CASE(rows_by_index_and_lazy_updates) {
    constexpr auto net = indices<6> >> embedding<13, 9> >> flatten >> dense<10>;
    as_on_cpu<7>(net, softmax_cross_entropy, adam{}, examples(7, 0, 6, 13).view());
}
BOOST_AUTO_TEST_CASE(attention_and_wide_rows) {   // matmul, permute, softmax over rows, rows longer than a warp
    constexpr auto net = array<12, 40> >> layer_norm >> [](tensor x) {
        const tensor heads = permute(ops::reshape(x, batch_of(12, 4, 10)), {1, 0, 2});
        const tensor a = ops::softmax(matmul(heads, heads, transposed::no, transposed::yes));
        return x + ops::reshape(permute(matmul(a, heads), {1, 0, 2}), batch_of(12, 40));
    } >> flatten >> dense<65> >> sigmoid >> dense<10>;
    as_on_cpu<4>(net, softmax_cross_entropy, sgd{.learning_rate = 0.1f}, examples(4, 480).view());
}
BOOST_AUTO_TEST_CASE(slices_concatenation_and_reductions) {
    constexpr auto net = array<5, 6, 4> >> [](tensor x) {
        const tensor a = slice(x, 1, 1, 3), b = slice(x, 1, 0, 2);
        return ops::concat({a * a - max(a, {batch_axis}), b}, 1) + max(x, {1}, keep::yes);
    } >> flatten >> dense<7>;
    as_on_cpu<5>(net, mse, clip_by_global_norm{0.5f, sgd{.learning_rate = 0.1f}}, examples(5, 120, 0, 1, 7).view());
}
BOOST_AUTO_TEST_CASE(loops_over_time) {
    constexpr recurrent_options last{.sequences = false, .reverse = true, .recompute = true};
    constexpr auto net = array<5, 4> >> lstm<6> >> dropout<0.3f> >> gru<7, last> >> dense<10>;
    as_on_cpu<5>(net, softmax_cross_entropy, adam{}, examples(5, 20).view());
}
BOOST_AUTO_TEST_CASE(every_op_a_kernel_of_its_own) {
    constexpr program_options apart{.fuse = false};
    test::fixture_batch b;
    as_on_cpu<4, apart>(test::cnn, softmax_cross_entropy, adam{}, b.of_step(0));
}
