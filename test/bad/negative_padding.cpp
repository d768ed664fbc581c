// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::padding_refused
// expect-gcc: in_op<printed<7>{"conv2d"}>
// expect-clang: in_op<'c', 'o', 'n', 'v', '2', 'd'>
// expect: got<0, 0, -1, 1>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<8, 8, 2> >> conv2d<8, 3, window{.padding = {0, 0, -1, 1}}> >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
