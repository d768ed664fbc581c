// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::tensor_too_large
// expect-gcc: in_op<printed<10>{"parameter"}>
// expect-clang: in_op<'p', 'a', 'r', 'a', 'm', 'e', 't', 'e', 'r'>
// expect-gcc: in_layer<printed<10>{"embedding"}>
// expect-clang: in_layer<'e', 'm', 'b', 'e', 'd', 'd', 'i', 'n', 'g'>
// expect: got<50000000, 64>
// expect: needed<2147483647>
#include <sinter/sinter.hpp>

using namespace sinter;

// 3.2 billion weights in one table.
constexpr auto net = indices<4> >> embedding<50'000'000, 64> >> flatten >> dense<2>;

int main() { estimator model{net, mse, sgd{}}; }
