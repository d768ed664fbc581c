// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_element_type
// expect-gcc: in_op<printed<5>{"tanh"}>
// expect-clang: in_op<'t', 'a', 'n', 'h'>
// expect: got<4>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// Integers have no slope: ops::to_float makes floats of them, whose gradient ends there.
constexpr auto net = indices<4> >> activation::tanh >> dense<2>;

int main() { estimator model{net, mse, sgd{}}; }
