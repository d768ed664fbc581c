// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::inner_extents_differ
// expect-gcc: in_op<printed<5>{"gemm"}>
// expect-clang: in_op<'g', 'e', 'm', 'm'>
// expect-gcc: in_layer<printed<6>{"dense"}>
// expect-clang: in_layer<'d', 'e', 'n', 's', 'e'>
// expect: got<14, 14, 8>
// expect: needed<1568>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<28, 28, 1> >> conv2d<8, 3> >> relu >> max_pool<2> >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
