// SPDX-License-Identifier: BSL-1.0
// shows files: an exported net computes what Sinter computes, op by op and in loops
// needs: python
// once: what a file holds does not depend on the compiler
// alone: takes as long to compile as a group
#define BOOST_TEST_MODULE onnx_every_op_in_loops
#include "support/onnx_run.hpp"
#include "train/onnx/every_op.hpp"

// The same ops in the body of a loop, which a runtime has as a graph of its own: what is made there must be written
// there, and what is read from around it must stand before.
using namespace sinter;
using test::agrees;

namespace {
/// f of each slice of x, with a state that goes from one to the next.
template <class F>
constexpr bundle each_slice(F f, tensor x) {
    const scan_step r = ops::scan(
        [f](bundle carry, bundle in) {
            const tensor state = ops::tanh(carry[0] + in[0]);
            return scan_step{state, f(in[0] + state * 0.1f)};
        },
        ops::reshape(ops::slice(x, 0, 0, 1), extents(x.shape().d[1])), x);
    return r.outputs;
}
constexpr auto of_elements = array<2, 8> >> [](tensor x) { return each_slice(test::functions, x); };
constexpr auto of_axes = array<2, 24> >> [](tensor x) {
    return each_slice([](tensor y) {
        const bundle b = test::along_axes(y);
        return bundle(b[0], b[1], b[2], ops::to_float(b[3]), ops::to_float(b[4]), ops::to_float(b[5]));
    }, x);
};
constexpr auto of_lookups = inputs(array<2, 12>, indices<2>) >> [](tensor x, tensor i) {
    return each_slice([i](tensor y) {
        const bundle b = test::lookups(ops::reshape(y, extents(3, 4)), i);
        return bundle(b[0], b[1], b[2]);
    }, x);
};
/// Products and windows, whose weights stand outside of the loop, or change with its state.
constexpr auto of_products = array<2, 72> >> [](tensor x) {
    const tensor w = parameter(x, "w", extents(3, 3, 2, 4), zeros), dense = parameter(x, "dense", extents(6, 5), zeros);
    return each_slice([=](tensor y) {
        const auto flat = [](tensor t) { return ops::reshape(t, extents(t.shape().size())); };
        const tensor image = ops::reshape(y, extents(6, 6, 2)), rows = ops::reshape(y, extents(12, 6));
        const tensor c = ops::conv2d(image, w, {.stride = 2}), left = ops::slice(rows, 0, 0, 4);
        return bundle(ops::concat(
            {flat(c), flat(ops::relu(ops::conv2d(image, w * 0.5f))), flat(ops::max_pool(image, 2, {.stride = 2})),
             flat(ops::avg_pool(c, 3, {.stride = 1})), flat(ops::matmul(rows, dense)),
             flat(ops::matmul(left, left, transposed::no, transposed::yes)),
             flat(ops::attention(left, left, left * 0.5f, {.heads = 2})),
             flat(ops::local_response_norm(image, {.size = 3}))}));
    }, x);
};
/// In the body of a branch.
constexpr auto of_branches = features<8> >> [](tensor x) {
    const auto some = [](bundle b) { return bundle(test::functions(b[0])[0]); };
    const auto others = [](bundle b) { return bundle(test::functions(b[0])[0] * 2.f); };
    return bundle(ops::cond(ops::fill(x, extents(), 1), some, others, x)[0],
                  ops::cond(ops::fill(x, extents(), 0), some, others, x)[0]);
};
} // namespace

BOOST_AUTO_TEST_CASE(elementwise_functions) { BOOST_TEST(agrees<of_elements>().count("Loop") == 1); }
BOOST_AUTO_TEST_CASE(reductions_scans_and_sorts) { agrees<of_axes>(); }
BOOST_AUTO_TEST_CASE(lookups_and_moves) { agrees<of_lookups>(); }
BOOST_AUTO_TEST_CASE(products_and_windows) { BOOST_TEST(agrees<of_products>().count("Conv") == 2); }
BOOST_AUTO_TEST_CASE(branches) { BOOST_TEST(agrees<of_branches>().count("If") == 4); }
