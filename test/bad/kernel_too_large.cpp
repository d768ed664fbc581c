// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::window_larger_than_input
// expect-gcc: in_op<printed<7>{"conv2d"}>
// expect-clang: in_op<'c', 'o', 'n', 'v', '2', 'd'>
// expect-gcc: in_layer<printed<14>{"head/conv2d_1"}>
// expect-clang: in_layer<'h', 'e', 'a', 'd', '/', 'c', 'o', 'n', 'v', '2', 'd', '_', '1'>
// expect: got<4, 4, 8>
// expect: needed<5, 5, 8>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<6, 6, 1>
    >> named<"head">(conv2d<8, 3, window{.padding = padding::valid}> >> conv2d<8, 5, window{.padding = padding::valid}>)
    >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
