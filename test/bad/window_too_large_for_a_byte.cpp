// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::window_out_of_range
// expect-gcc: in_op<printed<9>{"max_pool"}>
// expect-clang: in_op<'m', 'a', 'x', '_', 'p', 'o', 'o', 'l'>
// expect-gcc: in_layer<printed<6>{"whole"}>
// expect-clang: in_layer<'w', 'h', 'o', 'l', 'e'>
// expect: got<28, 28>
// expect: needed<15, 15>
#include <sinter/sinter.hpp>

using namespace sinter;

// A max over the whole image, by a window that is too large to remember its winner in a byte: max(x, {0, 1}) does it.
constexpr auto net = image<28, 28, 1>
    >> conv2d<8, 3> >> named<"whole">([](tensor x) { return ops::max_pool(x, 28, {.stride = 28}); }) >> flatten
    >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
