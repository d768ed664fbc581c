// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_number_of_inputs
// expect-gcc: in_op<printed<6>{"input"}>
// expect-clang: in_op<'i', 'n', 'p', 'u', 't'>
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<2>
// expect: needed<1>
#include <sinter/sinter.hpp>

using namespace sinter;

// Two inputs that nobody joins.
constexpr auto net = inputs(features<12>, features<4>) >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
