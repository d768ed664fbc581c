// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_number_of_inputs
// expect: got<3>
// expect: needed<4>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/per_output.hpp>

using namespace sinter;

// Three outputs and four losses.
constexpr auto net = features<3> >> [](tensor x) { return outputs(dense<2>(x), dense<3>(x), dense<1>(x)); };

int main() { estimator model{net, per_output(mse, softmax_cross_entropy, mse, mse), sgd{}}; }
