// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::batch_axis_refused
// expect: op::row_max
// expect-gcc: in_layer<layer_path<6>{"scale"}>
// expect-clang: in_layer<'s', 'c', 'a', 'l', 'e'>
// expect: got<8>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<8> >> named<"scale">([](tensor x) { return x / max(x, {batch_axis}); }) >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
