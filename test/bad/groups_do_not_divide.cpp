// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::groups_do_not_divide_channels
// expect-gcc: in_layer<printed<9>{"conv2d_1"}>
// expect-clang: in_layer<'c', 'o', 'n', 'v', '2', 'd', '_', '1'>
// expect: got<8, 12>
// expect: needed<3>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<8, 8, 2> >> conv2d<8, 3> >> conv2d<12, 3, window{.groups = 3}> >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
