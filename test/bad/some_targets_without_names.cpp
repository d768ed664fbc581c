// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::some_ports_without_names
// expect-gcc: in_layer<printed<8>{"targets"}>
// expect-clang: in_layer<'t', 'a', 'r', 'g', 'e', 't', 's'>
// expect: got<1>
// expect: needed<2>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/per_output.hpp>

using namespace sinter;

constexpr auto net = features<4> >> [](tensor x) { return outputs(dense<2>(x), dense<3>(x)); };

int main() { estimator model{net, per_output(mse, expects<"kind">(softmax_cross_entropy)), sgd{}}; }
