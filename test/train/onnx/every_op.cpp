// SPDX-License-Identifier: BSL-1.0
// shows files: an exported net computes what Sinter computes, op by op and in loops
// needs: python
// once: what a file holds does not depend on the compiler
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE onnx_every_op
#include "support/onnx_run.hpp"
#include "train/onnx/every_op.hpp"

// The ops of every_op.hpp in onnxruntime: batches of three and of one.
using namespace sinter;
using test::agrees;

namespace {
constexpr auto of_elements = features<8> >> test::functions;
constexpr auto of_axes = features<24> >> test::along_axes;
constexpr auto of_lookups = inputs(array<3, 4>, indices<2>) >> test::lookups;
/// Other numbers there, of the same distributions: means, mean squares, and products with the neighbours.
constexpr auto random_numbers = features<1> >> [](tensor x) {
    constexpr int n = 20'000;
    const tensor like = ops::broadcast_to(x * 0.f, batch_of(n)), u = ops::random_uniform(like),
        z = ops::random_normal(like);
    const auto moments = [](tensor y) {
        const tensor next = ops::roll(y, 1, 0);
        return ops::concat({mean(y, {0}, keep::yes), mean(y * y, {0}, keep::yes), mean(y * next, {0}, keep::yes)});
    };
    const tensor logits = ops::range(x, 3) * ops::reshape(like + 1.f, extents(n, 1));
    return bundle(moments(u), moments(z), moments(ops::random_truncated_normal(like)),
                  moments(ops::random_bernoulli(like + 0.3f)), moments(ops::random_categorical(logits)),
                  mean(u * z, {0}));
};
} // namespace

BOOST_AUTO_TEST_CASE(elementwise_functions) { agrees<of_elements>(); }
BOOST_AUTO_TEST_CASE(reductions_scans_and_sorts) { agrees<of_axes>(); }
BOOST_AUTO_TEST_CASE(lookups_and_moves) { agrees<of_lookups>(); }
BOOST_AUTO_TEST_CASE(moments_of_random_numbers) {
    BOOST_TEST(agrees<random_numbers>("0.06").count("RandomUniformLike") == 5);
}
