// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::segments_do_not_fit
// expect-gcc: in_op<printed<10>{"attention"}>
// expect-clang: in_op<'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n'>
// expect: got<10>
// expect: needed<10>
#include <sinter/ops/attention.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = inputs(array<10, 8>, array<10>)
    >> [](tensor x, tensor segments) { return attention(x, x, x, {.heads = 2, .segments = segments}); }
    >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
