// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::sizes_differ
// expect-gcc: in_op<printed<8>{"reshape"}>
// expect-clang: in_op<'r', 'e', 's', 'h', 'a', 'p', 'e'>
// expect-gcc: in_layer<printed<8>{"reshape"}>
// expect-clang: in_layer<'r', 'e', 's', 'h', 'a', 'p', 'e'>
// expect: got<12>
// expect: needed<-3, -4>
#include <sinter/sinter.hpp>

using namespace sinter;

// Their product would fit.
constexpr auto net = features<12> >> reshape<-3, -4> >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
