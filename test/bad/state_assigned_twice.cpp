// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::assigned_twice
// expect-gcc: in_op<printed<6>{"state"}>
// expect-clang: in_op<'s', 't', 'a', 't', 'e'>
// expect-gcc: in_layer<printed<8>{"counter"}>
// expect-clang: in_layer<'c', 'o', 'u', 'n', 't', 'e', 'r'>
// expect: got<>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// Would it be 1 more, or 0?
constexpr auto net = features<4> >> named<"counter">([](tensor x) {
    const tensor steps = state(x, "steps", extents(), zeros);
    assign_add(steps, constant(x.g, 1.f));
    assign(steps, constant(x.g, 0.f));
    return x * steps;
}) >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
