// SPDX-License-Identifier: BSL-1.0
// shows files: an exported net computes what Sinter computes, op by op and in loops
// needs: python
// once: what a file holds does not depend on the compiler
#define BOOST_TEST_MODULE onnx_hidden_conditions
#include "support/onnx_run.hpp"
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

// Numbers that are not finite where an op does not look, and options that ONNX's operators do not have: in onnxruntime
// as here.
using namespace sinter;
using test::agrees;

namespace {
constexpr float none = __builtin_nanf(""), infinite = __builtin_inff();
/// y where row `r` of the first axis is meant, else x.
constexpr tensor in_row(tensor x, int r, float y) {
    const tensor place = ops::reshape(ops::range(x, x.shape().d[0]), extents(x.shape().d[0], 1));
    return ops::where(ops::equal(place, static_cast<float>(r)), y, x);
}
/// Keys and values beyond the length, lengths of 0 among them.
constexpr auto beyond_lengths = inputs(array<3, 4>, array<5, 4>, indices<1>) >> [](tensor q, tensor x, tensor n) {
    const tensor place = ops::reshape(ops::range(x, 5), extents(5, 1)),
        length = ops::reshape(ops::to_float(n), extents(1, 1));
    const auto spoiled = [&](float y) { return ops::where(ops::greater_equal(place, length), y, x); };
    return bundle(attention(q, spoiled(none), x, {.lengths = n}), attention(q, x, spoiled(none), {.lengths = n}),
                  attention(q, spoiled(infinite), spoiled(infinite), {.lengths = n}));
};
/// A query that is not a number: its own row alone.
constexpr auto of_a_query = inputs(array<3, 4>, array<5, 4>, indices<1>) >> [](tensor q, tensor x, tensor n) {
    const tensor bias = parameter(x, "bias", extents(3, 5), zeros);
    return bundle(attention(in_row(q, 1, none), x, x),
                  attention(in_row(q, 1, none), x, x, {.lengths = ops::to_index(ops::to_float(n) + 1.f, 6)}),
                  attention(q, x, x, {.bias = in_row(bias, 2, none)}));
};
/// What is behind a query.
constexpr auto to_come = array<5, 4> >> [](tensor x) {
    return bundle(attention(x, in_row(x, 4, none), x, {.causal = causal::yes}),
                  attention(x, in_row(x, 4, infinite), x, {.causal = causal::yes}));
};
constexpr auto channels = image<4, 5, 6> >> [](tensor x) {
    const auto norm = [&](int size, float alpha, float beta) {
        return ops::local_response_norm(x, {.size = size, .alpha = alpha, .beta = beta, .k = 2});
    };
    return bundle(norm(5, 1e-4f, 0.75f), norm(5, 0, 0.75f), norm(3, 0.5f, -0.5f), norm(5, 1e-4f, 0),
                  norm(9, 0.1f, 0.75f));
};
constexpr auto moments = array<3, 4> >> [](tensor x) {
    return bundle(ops::var(x, {1}, 1), ops::stddev(x, {0}), ops::group_norm(x + 1000.f, 2));
};
} // namespace

BOOST_AUTO_TEST_CASE(keys_beyond_their_length) { agrees<beyond_lengths>(); }
BOOST_AUTO_TEST_CASE(queries_that_are_no_numbers) { agrees<of_a_query>(); }
BOOST_AUTO_TEST_CASE(keys_to_come) { agrees<to_come>(); }
BOOST_AUTO_TEST_CASE(response_norms) { agrees<channels>(); }
BOOST_AUTO_TEST_CASE(variances) { agrees<moments>(); }
