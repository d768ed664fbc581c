// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::labels_do_not_fit_predictions
// expect-gcc: in_op<printed<6>{"input"}>
// expect-clang: in_op<'i', 'n', 'p', 'u', 't'>
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<>
// expect: needed<1>
#include <sinter/sinter.hpp>

using namespace sinter;

// One number an example: where are the scores of the classes?
constexpr auto net = features<12> >> dense<10> >> [](tensor x) { return sum(x, {-1}); };

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
