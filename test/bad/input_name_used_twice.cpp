// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::port_name_used_twice
// expect-gcc: in_op<printed<6>{"input"}>
// expect-clang: in_op<'i', 'n', 'p', 'u', 't'>
// expect-gcc: in_layer<printed<4>{"age"}>
// expect-clang: in_layer<'a', 'g', 'e'>
// expect: got<3>
// expect: needed<2>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = inputs(input<"age">(features<2>), input<"age">(features<3>))
    >> [](tensor a, tensor b) { return dense<2>(a) + dense<2>(b); };

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
