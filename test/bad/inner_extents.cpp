// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::inner_extents_differ
// expect-gcc: in_op<printed<7>{"matmul"}>
// expect-clang: in_op<'m', 'a', 't', 'm', 'u', 'l'>
// expect-gcc: in_layer<printed<4>{"mix"}>
// expect-clang: in_layer<'m', 'i', 'x'>
// expect: got<20>
// expect: needed<30, 5>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<20>
    >> named<"mix">([](tensor x) { return matmul(x, weights(x, "w", extents(30, 5), zeros)); });

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
