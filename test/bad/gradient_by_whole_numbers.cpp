// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_element_type
// expect-gcc: in_op<printed<9>{"gradient"}>
// expect-clang: in_op<'g', 'r', 'a', 'd', 'i', 'e', 'n', 't'>
// expect-gcc: in_layer<printed<6>{"words"}>
// expect-clang: in_layer<'w', 'o', 'r', 'd', 's'>
// expect: got<6>
// expect: needed<>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// What an embedding was asked for has no gradient.
constexpr auto net = indices<6> >> named<"words">([](tensor i) { return ops::gradient(embedding<10, 3>(i), i); })
    >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
