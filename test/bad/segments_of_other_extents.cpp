// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::segments_do_not_fit
// expect-gcc: in_op<printed<10>{"attention"}>
// expect-clang: in_op<'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n'>
// expect-gcc: in_layer<printed<21>{"multi_head_attention"}>
// expect-clang: in_layer<'m', 'u', 'l', 't', 'i', '_', 'h', 'e', 'a', 'd', '_', 'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n'>
// expect: got<9>
// expect: needed<10>
#include <sinter/layers/attention.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = inputs(array<10, 8>, indices<9>)
    >> [](tensor x, tensor segments) { return multi_head_attention<2>(x, segments); }
    >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
