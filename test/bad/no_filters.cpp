// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::extents_not_positive
// expect-gcc: in_op<printed<7>{"conv2d"}>
// expect-clang: in_op<'c', 'o', 'n', 'v', '2', 'd'>
// expect-gcc: in_layer<printed<9>{"conv2d_1"}>
// expect-clang: in_layer<'c', 'o', 'n', 'v', '2', 'd', '_', '1'>
// expect: got<3, 3, 1, 0>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// A number of filters that was worked out, and came out as nothing.
constexpr int width = 1;
constexpr auto net = image<8, 8, 1> >> conv2d<width, 3> >> conv2d<width / 2, 3> >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
