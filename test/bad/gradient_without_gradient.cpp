// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::no_gradient
// expect-gcc: in_op<printed<9>{"ctc_loss"}>
// expect-clang: in_op<'c', 't', 'c', '_', 'l', 'o', 's', 's'>
// expect-gcc: in_layer<printed<9>{"sounding"}>
// expect-clang: in_layer<'s', 'o', 'u', 'n', 'd', 'i', 'n', 'g'>
// expect: got<>
// expect: needed<>
#include <sinter/ops/ctc_loss.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// ctc_loss finds its gradient along with its value, in one kernel, and that one has none.
constexpr auto net = inputs(array<3, 4>, indices<2>) >> named<"sounding">([](tensor x, tensor labels) {
    const tensor z = dense<4>(x);
    return ops::gradient(ops::ctc_loss(z, labels), z);
}) >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
