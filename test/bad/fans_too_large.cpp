// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::tensor_too_large
// expect-gcc: in_op<printed<10>{"parameter"}>
// expect-clang: in_op<'p', 'a', 'r', 'a', 'm', 'e', 't', 'e', 'r'>
// expect: got<1500000000, 1500000000>
// expect: needed<2147483647>
#include <sinter/sinter.hpp>

using namespace sinter;

// Weights of which the initialiser's two fans add up to more than an int holds.
constexpr auto net = features<1'500'000'000> >> dense<1'500'000'000>;

int main() { estimator model{net, mse, sgd{}}; }
