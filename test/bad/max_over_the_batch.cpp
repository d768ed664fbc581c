// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::batch_axis_refused
// expect-gcc: in_op<printed<8>{"row_max"}>
// expect-clang: in_op<'r', 'o', 'w', '_', 'm', 'a', 'x'>
// expect-gcc: in_layer<printed<6>{"scale"}>
// expect-clang: in_layer<'s', 'c', 'a', 'l', 'e'>
// expect: got<8>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<8> >> named<"scale">([](tensor x) { return x / max(x, {batch_axis}); }) >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
