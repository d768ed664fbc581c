// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::name_of_no_output
// expect-gcc: in_layer<printed<12>{"block/score"}>
// expect-clang: in_layer<'b', 'l', 'o', 'c', 'k', '/', 's', 'c', 'o', 'r', 'e'>
// expect: got<2>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<4> >> named<"block">([](tensor x) { return output<"score">(dense<2>(x)); }) >> sigmoid;

int main() { estimator model{net, mse, sgd{}}; }
