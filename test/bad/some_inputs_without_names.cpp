// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::some_ports_without_names
// expect-gcc: in_layer<printed<7>{"inputs"}>
// expect-clang: in_layer<'i', 'n', 'p', 'u', 't', 's'>
// expect: got<1>
// expect: needed<2>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = inputs(input<"age">(features<2>), features<3>)
    >> [](tensor a, tensor b) { return dense<2>(a) + dense<2>(b); };

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
