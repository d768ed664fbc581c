// SPDX-License-Identifier: BSL-1.0
// needs: python
#define BOOST_TEST_MODULE onnx_attention
#include "support/onnx_run.hpp"
#include <sinter/layers/attention.hpp>
#include <sinter/ops/less.hpp>
#include <sinter/ops/range.hpp>
#include <sinter/ops/reshape.hpp>
#include <sinter/ops/where.hpp>
#include <sinter/sinter.hpp>
#include <limits>

// The op attention, with each of its options, in onnxruntime.
using namespace sinter;
using test::agrees;

namespace {
constexpr auto causal_heads = array<5, 8> >> multi_head_attention<2, attention_settings{.causal = causal::yes}>;
/// Four heads of queries over two of keys and values, lengths, a bias for each head.
constexpr auto grouped = inputs(array<3, 12>, array<4, 6>, indices<1>) >> [](tensor x, tensor y, tensor n) {
    const tensor bias = parameter(x, "bias", extents(4, 3, 4), zeros);
    return attention(x, y, y * 0.5f, {.heads = 4, .lengths = n, .bias = bias});
};
/// Heads with an axis of their own, a bias that the batch brings; the last queries of a longer past.
constexpr auto with_axis = inputs(array<3, 2, 4>, array<5, 1, 4>, array<3, 5>) >> [](tensor q, tensor k, tensor b) {
    return attention(q, k, k, {.causal = causal::from_end, .scale = 0.7f, .bias = b});
};
/// A bias that hides all keys of the second query, and some of the others'.
constexpr auto hiding = inputs(array<2, 4>, array<5, 4>) >> [](tensor q, tensor k) {
    const tensor place = ops::range(q, 2), key = ops::range(q, 5);
    const tensor seen = ops::less(key, ops::reshape(3.f - place * 3.f, extents(2, 1)));
    return attention(q, k, k, {.bias = ops::where(seen, 0.f, -std::numeric_limits<float>::infinity())});
};
/// Rows of several segments, some of them padding.
constexpr auto packed = inputs(array<12, 8>, indices<12>) >> [](tensor x, tensor s) {
    return multi_head_attention<2, attention_settings{.causal = causal::yes}>(x, s);
};
} // namespace

BOOST_AUTO_TEST_CASE(causal_attention_of_two_heads) {
    const test::onnx_file f = agrees<causal_heads>();
    BOOST_TEST(f.count("Softmax") == 1);
}
BOOST_AUTO_TEST_CASE(groups_lengths_and_bias) { agrees<grouped>(); }
BOOST_AUTO_TEST_CASE(rows_of_several_segments) { agrees<packed>(); }
BOOST_AUTO_TEST_CASE(a_bias_that_hides_all_keys) { agrees<hiding>(); }
BOOST_AUTO_TEST_CASE(heads_with_an_axis) { agrees<with_axis>(); }
