// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::port_name_used_twice
// expect-gcc: in_op<printed<6>{"input"}>
// expect-clang: in_op<'i', 'n', 'p', 'u', 't'>
// expect-gcc: in_layer<printed<6>{"price"}>
// expect-clang: in_layer<'p', 'r', 'i', 'c', 'e'>
// expect: got<3>
// expect: needed<2>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/per_output.hpp>

using namespace sinter;

constexpr auto net = features<4> >> [](tensor x) { return outputs(dense<2>(x), dense<3>(x)); };

int main() { estimator model{net, per_output(expects<"price">(mse), expects<"price">(mse)), sgd{}}; }
