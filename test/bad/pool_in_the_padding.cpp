// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::padding_refused
// expect-gcc: in_op<printed<9>{"max_pool"}>
// expect-clang: in_op<'m', 'a', 'x', '_', 'p', 'o', 'o', 'l'>
// expect: got<2, 2>
// expect: needed<1, 1>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<8, 8, 2> >> max_pool<2, window{.stride = 2, .padding = 2}> >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
