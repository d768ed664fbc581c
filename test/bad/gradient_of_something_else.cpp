// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::does_not_depend
// expect-gcc: in_op<printed<9>{"gradient"}>
// expect-clang: in_op<'g', 'r', 'a', 'd', 'i', 'e', 'n', 't'>
// expect-gcc: in_layer<printed<7>{"critic"}>
// expect-clang: in_layer<'c', 'r', 'i', 't', 'i', 'c'>
// expect: got<1>
// expect: needed<4>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// A copy of x does not lead to the score, which was made of x itself.
constexpr auto net = features<4> >> named<"critic">([](tensor x) { return x * ops::gradient(dense<1>(x), x + 1.f); })
    >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
