// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::needs_steps
// expect-gcc: in_op<printed<5>{"lstm"}>
// expect-clang: in_op<'l', 's', 't', 'm'>
// expect-gcc: in_layer<printed<5>{"lstm"}>
// expect-clang: in_layer<'l', 's', 't', 'm'>
// expect: got<28, 28, 1>
// expect: needed<1, 1>
#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// Rows of pixels would be steps, but this still has channels.
constexpr auto net = image<28, 28, 1> >> lstm<32, recurrent_options{.sequences = false}> >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
