// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::program_too_large
// expect-gcc: in_op<printed<5>{"none"}>
// expect-clang: in_op<'n', 'o', 'n', 'e'>
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<18
// expect: needed<1800>
#include <sinter/sinter.hpp>

using namespace sinter;

// One layer that is as large as a net of hundreds: a loop is quicker to compile than their types.
constexpr auto net = features<12> >> named<"deep">([](tensor x) {
    for (int i = 0; i < 600; ++i) x = ops::tanh(x * 0.5f) + x;
    return x;
}) >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
