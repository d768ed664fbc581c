// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::axis_out_of_range
// expect-gcc: in_op<printed<8>{"row_sum"}>
// expect-clang: in_op<'r', 'o', 'w', '_', 's', 'u', 'm'>
// expect-gcc: in_layer<printed<8>{"average"}>
// expect-clang: in_layer<'a', 'v', 'e', 'r', 'a', 'g', 'e'>
// expect: got<5, 8>
// expect: needed<5, 8>
#include <sinter/sinter.hpp>

using namespace sinter;

// Axes count without the batch: the last of these two is 1.
constexpr auto net = array<5, 8> >> named<"average">([](tensor x) { return mean(x, {2}); }) >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
