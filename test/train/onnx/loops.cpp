// SPDX-License-Identifier: BSL-1.0
// needs: python
// once: what a file holds does not depend on the compiler
#define BOOST_TEST_MODULE onnx_loops
#include "support/onnx_run.hpp"
#include <sinter/expr/input.hpp>
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/ops.hpp>

// Loops in onnxruntime: a body that stands in the file once, numbers of iterations found while they run, branches.
using namespace sinter;
using test::agrees;

namespace {
/// The number of iterations from the net's second input, of all examples alike.
template <bool Reverse>
constexpr auto counted = inputs(array<5, 2>, array<3>) >> [](tensor x, tensor n) {
    const tensor bias = parameter(x, "bias", extents(2), zeros);
    const auto body = [bias](bundle carry, bundle in) {
        const tensor y = ops::tanh(carry[0] * 0.5f + in[0] + bias);
        return scan_step{bundle(y, carry[1] + ops::loop_index(y)), bundle(y, carry[1])};
    };
    const tensor first = ops::slice(x, 0, 0, 1), start = ops::reshape(first, extents(2));
    const tensor steps = parameter(x, "steps", extents(), constant_of(2.f)) * 0.f +
                         ops::sum(n * 0.f, {batch_axis, 0}) + 3.4f;
    const scan_step some = scan(body, bundle(start, fill(x, extents(1), 0)), x, {.count = steps, .reverse = Reverse});
    const scan_step none = scan(body, bundle(start, fill(x, extents(1), 0)), x,
                                {.count = steps - 9.f, .reverse = Reverse});
    const scan_step all = scan(body, bundle(start, fill(x, extents(1), 0)), x,
                               {.count = steps * 9.f, .reverse = Reverse});
    const auto flat = [](tensor y) { return ops::reshape(y, extents(y.shape().size())); };
    const auto together = [flat](const scan_step& s) { return ops::concat({flat(s.outputs[0]), s.carry[0]}); };
    return bundle(together(some), together(none), together(all), some.outputs[1], none.carry[1] + all.carry[1]);
};
/// Doubled until the sum of a parameter's squares is more than 50; and one that begins and ends at once.
constexpr auto until = features<3> >> [](tensor x) {
    const tensor p = parameter(x, "p", extents(3), zeros);
    const auto goes_on = [](bundle c) { return ops::less(ops::sum(c[1] * c[1], {0}), 50.f); };
    const auto twice = [](bundle c) { return bundle(c[0] * 2.f + c[1], c[1] * 2.f); };
    const bundle y = while_loop(goes_on, twice, bundle(x, p), 20),
        z = while_loop(goes_on, twice, bundle(x, p + 9.f), 20);
    const bundle most = while_loop(goes_on, twice, bundle(x, p), 2);
    return bundle(y[0], y[1], z[0], most[0]);
};
constexpr auto branches = features<4> >> [](tensor x) {
    const tensor w = parameter(x, "w", extents(4, 4), zeros);
    const auto then = [w](bundle b) { return bundle(ops::tanh(matmul(b[0], w)), b[0]); };
    const auto otherwise = [](bundle b) { return bundle(b[0] * 3.f, b[0] + 1.f); };
    const bundle yes = ops::cond(fill(x, extents(), 1), then, otherwise, x),
                 no = ops::cond(fill(x, extents(), 0), then, otherwise, x);
    const tensor late = ops::greater(ops::sum(w, {0, 1}), 0.f);
    const bundle either = ops::cond(late, then, otherwise, yes[0]);
    return bundle(yes[0] + yes[1], no[0], no[1], either[0], either[1]);
};
constexpr auto mapped = array<6, 4> >> [](tensor x) {
    const tensor y = ops::map_fn([](tensor r) { return ops::softmax(r) * ops::cumsum(r); }, x);
    return bundle(y, ops::map_fn([](tensor r) { return ops::sum(r, {0}); }, x));
};
/// Sequences of different lengths, both ways.
constexpr auto tagger = inputs(array<5, 3>, indices<>) >> [](tensor x, tensor n) {
    return bidirectional(lstm<4>)(bundle(x, n));
};
template <int T>
constexpr auto long_one = array<T, 3> >> lstm<4>;
} // namespace

BOOST_AUTO_TEST_CASE(iterations_counted_while_it_runs) { BOOST_TEST(agrees<counted<false>>().count("Loop") == 3); }
BOOST_AUTO_TEST_CASE(the_same_from_the_end) { agrees<counted<true>>(); }
BOOST_AUTO_TEST_CASE(while_a_condition_holds) { BOOST_TEST(agrees<until>().count("Loop") == 3); }
BOOST_AUTO_TEST_CASE(branches_that_are_left_out) { BOOST_TEST(agrees<branches>().count("If") == 6); }
BOOST_AUTO_TEST_CASE(slices_one_by_one) { agrees<mapped>(); }
BOOST_AUTO_TEST_CASE(sequences_of_different_lengths) { BOOST_TEST(agrees<tagger>().count("Loop") == 2); }
BOOST_AUTO_TEST_CASE(a_long_loop_is_as_large_as_a_short_one) {
    const temporary_folder folder;
    export_onnx(long_one<3>, folder / "short.onnx");
    export_onnx(long_one<300>, folder / "long.onnx");
    const std::string a = read_bytes(folder / "short.onnx"), b = read_bytes(folder / "long.onnx");
    BOOST_TEST((test::onnx_file(a).operators == test::onnx_file(b).operators));
    BOOST_TEST(b.size() < a.size() + 64);
}
