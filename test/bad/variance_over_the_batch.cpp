// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::batch_axis_refused
// expect-gcc: in_op<printed<8>{"row_sum"}>
// expect-clang: in_op<'r', 'o', 'w', '_', 's', 'u', 'm'>
// expect-gcc: in_layer<printed<6>{"scale"}>
// expect-clang: in_layer<'s', 'c', 'a', 'l', 'e'>
// expect: got<8>
#include <sinter/ops/var.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<8> >> named<"scale">([](tensor x) { return x / ops::var(x, {batch_axis}, 1); })
    >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
