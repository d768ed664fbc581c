// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::no_gradient
// expect-gcc: in_op<printed<19>{"attention_gradient"}>
// expect-clang: in_op<'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n', '_', 'g', 'r', 'a', 'd', 'i', 'e', 'n', 't'>
// expect-gcc: in_layer<printed<6>{"heads"}>
// expect-clang: in_layer<'h', 'e', 'a', 'd', 's'>
// expect: got<3, 4>
// expect: needed<3, 4>
#include <sinter/ops/attention.hpp>
#include <sinter/ops/gradient.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// attention's gradient is one kernel, which has none itself.
constexpr auto net = array<3, 4> >> named<"heads">([](tensor x) {
    const tensor q = dense<4>(x);
    return ops::gradient(ops::attention(q, q, q), q);
}) >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
