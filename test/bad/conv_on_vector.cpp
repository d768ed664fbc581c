// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::needs_height_width_channels
// expect-gcc: in_op<printed<7>{"conv2d"}>
// expect-clang: in_op<'c', 'o', 'n', 'v', '2', 'd'>
// expect-gcc: in_layer<printed<7>{"conv2d"}>
// expect-clang: in_layer<'c', 'o', 'n', 'v', '2', 'd'>
// expect: got<10>
// expect: needed<3, 3, 1>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<10> >> conv2d<8, 3> >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
