// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::port_name_used_twice
// expect-gcc: in_op<printed<7>{"output"}>
// expect-clang: in_op<'o', 'u', 't', 'p', 'u', 't'>
// expect-gcc: in_layer<printed<2>{"x"}>
// expect-clang: in_layer<'x'>
// expect: got<2>
// expect: needed<4>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = input<"x">(features<4>) >> dense<2> >> output<"x">;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
