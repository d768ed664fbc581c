// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::extents_not_positive
// expect-gcc: in_op<printed<6>{"input"}>
// expect-clang: in_op<'i', 'n', 'p', 'u', 't'>
// expect: got<28, -28, 1>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// A sign that slipped in.
constexpr auto net = image<28, -28, 1> >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
