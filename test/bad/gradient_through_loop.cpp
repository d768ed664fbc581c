// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::gradient_through_loop
// expect-gcc: in_op<printed<9>{"gradient"}>
// expect-clang: in_op<'g', 'r', 'a', 'd', 'i', 'e', 'n', 't'>
// expect-gcc: in_layer<printed<4>{"rnn"}>
// expect-clang: in_layer<'r', 'n', 'n'>
// expect: got<2>
// expect: needed<3, 2>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/scan.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// Iterations lie between the last value and the inputs.
constexpr auto net = array<3, 2> >> named<"rnn">([](tensor x) {
    const tensor first = ops::reshape(ops::slice(x, 0, 0, 1), extents(2));
    const tensor last = scan([](bundle h, bundle in) { return scan_step{h[0] * in[0], {}}; }, first, x).carry[0];
    return ops::gradient(last, x);
}) >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
