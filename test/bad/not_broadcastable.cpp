// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::shapes_not_broadcastable
// expect-gcc: in_op<printed<4>{"add"}>
// expect-clang: in_op<'a', 'd', 'd'>
// expect-gcc: in_layer<printed<6>{"block"}>
// expect-clang: in_layer<'b', 'l', 'o', 'c', 'k'>
// expect: got<6, 6, 8>
// expect: needed<6, 6, 16>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<6, 6, 1> >> conv2d<8, 3>
    >> named<"block">([](tensor x) { return x + conv2d<16, 3>(x); }) >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
