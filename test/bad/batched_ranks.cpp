// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::batched_ranks_differ
// expect: got<4>
// expect: needed<1, 4>
// expect-gcc: in_op<printed<4>{"mul"}>
// expect-clang: in_op<'m', 'u', 'l'>
// expect-gcc: in_layer<printed<5>{"gate"}>
// expect-clang: in_layer<'g', 'a', 't', 'e'>
#include <sinter/sinter.hpp>

using namespace sinter;

// A number for each channel, times all places of its example: which axes meet must be said.
constexpr auto net = array<3, 4> >> named<"gate">([](tensor x) { return x * sigmoid(sum(x, {0})); }) >> flatten
    >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
