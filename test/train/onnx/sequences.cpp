// SPDX-License-Identifier: BSL-1.0
// needs: python
#define BOOST_TEST_MODULE onnx_sequences
#include "support/onnx_run.hpp"
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/ops/abs.hpp>
#include <sinter/ops/ceil.hpp>
#include <sinter/ops/floor.hpp>
#include <sinter/ops/round.hpp>
#include <sinter/ops/sign.hpp>
#include <sinter/ops/softplus.hpp>
#include <sinter/sinter.hpp>

// Embeddings, attention, several inputs and outputs in onnxruntime.
using namespace sinter;
using test::agrees;

namespace {
/// One head of attention, as it is written by hand, with positions that are learned.
constexpr auto written_attention = indices<5> >> embedding<11, 8> >> [](tensor x) {
    const tensor place = parameter(x, "place", extents(5, 8), normal_of(1.f));
    const tensor h = layer_norm(x + place);
    const tensor q = dense<6>(h), k = dense<6>(h), v = dense<8>(h);
    const tensor a = softmax(matmul(q, k, transposed::no, transposed::yes) * 0.4f);
    return x + matmul(a, v);
} >> gelu >> dense<3> >> log_softmax;
/// Two inputs, two outputs, one of which is an input; a table of what neither depends on.
constexpr auto several = inputs(features<4>, indices<2>) >> [](tensor x, tensor i) {
    const tensor hot = ops::reshape(one_hot(i, 3), extents(6));
    const tensor p = parameter(x, "p", extents(4), zeros);
    const tensor y = concat(x * p, hot);
    return bundle(tanh(dense<5>(y)), x, ops::broadcast_to(p, batch_of(4)));
};
/// Elementwise ops and reductions, once each.
constexpr auto odds = features<6> >> [](tensor x) {
    const tensor p = exp(x) + 0.5f, h = ops::reshape(p, extents(2, 3));
    const tensor a = log(p) - sqrt(p) / (1.f + sigmoid(x)) + ops::erf(x) * -x;
    const tensor b = ops::maximum(x, 0.2f) + ops::minimum(x, -0.2f) + ops::greater(x, 0.1f) + ops::equal(x, x);
    const tensor t = where(ops::not_equal(x, 0.3f), ops::trunc(x * 3.f), ops::expm1(x));
    const tensor u = ops::greater_equal(x, -0.2f) * ops::log1p(p) + where(greater(x, 0.f), ops::expm1(x), x);
    const tensor r = ops::abs(x) + ops::floor(x) - ops::ceil(x) + ops::round(x * 2.f) + ops::sign(x) * ops::softplus(x);
    const tensor c = sum(h, {0}), d = max(h, {0}), e = mean(h, {1});
    return concat({a, b, t, u, r, c, d, e, ops::reshape(max(x, {0}), extents(1)), stop_gradient(x)});
};
} // namespace

BOOST_AUTO_TEST_CASE(attention_over_an_embedding) {
    const test::onnx_file f = agrees<written_attention>();
    BOOST_TEST(f.count("Gather") == 1);
    BOOST_TEST(f.count("Transpose") == 1);
    BOOST_TEST(f.count("MatMul") == 6);
}
BOOST_AUTO_TEST_CASE(several_inputs_and_outputs) {
    const test::onnx_file f = agrees<several>();
    BOOST_TEST((f.inputs == std::vector<std::string>{"input", "input_1"}));
    BOOST_TEST((f.outputs == std::vector<std::string>{"output", "output_1", "output_2"}));
}
BOOST_AUTO_TEST_CASE(elementwise_ops_and_reductions) { agrees<odds>(); }

/// Embedded characters, two directions, then the last state of another layer and all of its steps: four loops.
constexpr auto recurrent = indices<6> >> embedding<9, 5> >> bidirectional(lstm<4>) >> gru<3> >> [](tensor x) {
    const recurrent_result r = lstm_layer<3>::run(x, {}, {});
    return bundle(r.y, r.state[0] + r.state[1]);
};
BOOST_AUTO_TEST_CASE(recurrent_layers) {
    const test::onnx_file f = agrees<recurrent>();
    BOOST_TEST(f.count("Loop") == 4);
}
