// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::concat_extents_differ
// expect-gcc: in_op<printed<7>{"concat"}>
// expect-clang: in_op<'c', 'o', 'n', 'c', 'a', 't'>
// expect-gcc: in_layer<printed<5>{"join"}>
// expect-clang: in_layer<'j', 'o', 'i', 'n'>
// expect: got<3, 4, 8>
// expect: needed<6, 6, 8>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<6, 6, 8>
    >> named<"join">([](tensor x) { return concat(x, ops::slice(ops::slice(x, 0, 0, 3), 1, 0, 4)); }) >> flatten
    >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
