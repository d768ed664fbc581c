// SPDX-License-Identifier: BSL-1.0
// expect: >> takes layers, not functions
// expect: activation::tanh
#include <sinter/sinter.hpp>

using namespace sinter;

// A function's name, where the layer of that name is activation::tanh.
constexpr auto net = features<4> >> dense<8> >> tanh >> relu >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
