// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::some_ports_without_names
// expect-gcc: in_layer<printed<8>{"targets"}>
// expect-clang: in_layer<'t', 'a', 'r', 'g', 'e', 't', 's'>
// expect: got<2>
// expect: needed<1>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<4> >> dense<2>;

int main() { estimator model{net, expects<"kind", "price">(softmax_cross_entropy), sgd{}}; }
