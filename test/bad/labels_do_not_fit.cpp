// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::labels_do_not_fit_predictions
// expect-gcc: in_op<printed<4>{"sub"}>
// expect-clang: in_op<'s', 'u', 'b'>
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<5>
// expect: needed<3>
#include <sinter/sinter.hpp>

using namespace sinter;

// A loss that compares three of the five outputs with all five targets.
constexpr auto net = features<12> >> dense<5>;

int main() { estimator model{net, [](tensor p, tensor t) { return mse(slice(p, -1, 0, 3), t); }, sgd{}}; }
