// SPDX-License-Identifier: BSL-1.0
// expect: bidirectional takes a recurrent layer itself
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = array<5, 3> >> bidirectional(named<"way">(lstm<4>)) >> flatten >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
