// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_element_type
// expect-gcc: in_op<printed<7>{"matmul"}>
// expect-clang: in_op<'m', 'a', 't', 'm', 'u', 'l'>
// expect-gcc: in_layer<printed<6>{"dense"}>
// expect-clang: in_layer<'d', 'e', 'n', 's', 'e'>
// expect: got<4>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = indices<4> >> dense<2, bias::no>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
