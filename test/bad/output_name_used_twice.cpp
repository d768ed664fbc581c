// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::port_name_used_twice
// expect-gcc: in_op<printed<7>{"output"}>
// expect-clang: in_op<'o', 'u', 't', 'p', 'u', 't'>
// expect-gcc: in_layer<printed<12>{"heads/score"}>
// expect-clang: in_layer<'h', 'e', 'a', 'd', 's', '/', 's', 'c', 'o', 'r', 'e'>
// expect: got<3>
// expect: needed<2>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<4>
    >> named<"heads">([](tensor x) { return outputs(output<"score">(dense<2>(x)), output<"score">(dense<3>(x))); });
constexpr auto loss = [](bundle y, bundle) { return sum(y[0], {-1}) + sum(y[1], {-1}); };

int main() { trainer model{net, loss, sgd{}}; }
