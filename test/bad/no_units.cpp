// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::extents_not_positive
// expect-gcc: in_op<printed<10>{"parameter"}>
// expect-clang: in_op<'p', 'a', 'r', 'a', 'm', 'e', 't', 'e', 'r'>
// expect-gcc: in_layer<printed<8>{"dense_1"}>
// expect-clang: in_layer<'d', 'e', 'n', 's', 'e', '_', '1'>
// expect: got<8, 0>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// A number of units that was worked out, and came out as nothing.
constexpr int width = 1;
constexpr auto net = features<6> >> dense<8> >> dense<width / 2> >> dense<1>;

int main() { estimator model{net, mse, sgd{}}; }
