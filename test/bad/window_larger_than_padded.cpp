// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::window_larger_than_input
// expect-gcc: in_layer<printed<7>{"conv2d"}>
// expect-clang: in_layer<'c', 'o', 'n', 'v', '2', 'd'>
// expect: got<6, 8, 2>
// expect: needed<3, 3, 2>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<6, 8, 2> >> conv2d<8, 3, window{.padding = {1, 1, 0, 0}, .dilation = {4, 1}}> >> flatten
    >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
