// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::heads_do_not_fit
// expect-gcc: in_op<printed<10>{"attention"}>
// expect-clang: in_op<'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n'>
// expect-gcc: in_layer<printed<21>{"multi_head_attention"}>
// expect-clang: in_layer<'m', 'u', 'l', 't', 'i', '_', 'h', 'e', 'a', 'd', '_', 'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n'>
// expect: got<8, 10>
// expect: needed<4>
#include <sinter/layers/attention.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = array<8, 10> >> multi_head_attention<4> >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
