// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::parameter_name_used_twice
// expect-gcc: in_op<printed<10>{"parameter"}>
// expect-clang: in_op<'p', 'a', 'r', 'a', 'm', 'e', 't', 'e', 'r'>
// expect-gcc: in_layer<printed<7>{"logits"}>
// expect-clang: in_layer<'l', 'o', 'g', 'i', 't', 's'>
// expect: got<12, 4>
// expect: needed<12, 4>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<12>
    >> [](tensor x) { return named<"logits">(dense<4>)(x) + named<"logits">(dense<4>)(x); };

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
