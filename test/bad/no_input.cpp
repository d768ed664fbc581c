// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::input_missing
// expect-gcc: in_op<printed<6>{"input"}>
// expect-clang: in_op<'i', 'n', 'p', 'u', 't'>
// expect: got<>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// Layers alone do not say what they are given.
constexpr auto net = dense<8> >> relu >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
