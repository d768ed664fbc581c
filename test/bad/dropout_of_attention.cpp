// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::dropout_rate_refused
// expect-gcc: in_op<printed<10>{"attention"}>
// expect-clang: in_op<'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n'>
// expect: got<1>
// expect: needed<0, 1>
#include <sinter/ops/attention.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = array<8, 8> >> [](tensor x) { return attention(x, x, x, {.dropout = 1.f}); } >> flatten
    >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
