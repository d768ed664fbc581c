// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::einsum_not_understood
// expect-gcc: in_op<printed<7>{"einsum"}>
// expect-clang: in_op<'e', 'i', 'n', 's', 'u', 'm'>
// expect: got<8>
// expect: needed<8, 10>
#include <sinter/ops/einsum.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// What stands behind the arrow must stand before it: the ninth character, x, does not.
constexpr auto net = array<8, 10> >> [](tensor x) { return einsum<"ti,ui->tx">(x, x); } >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
