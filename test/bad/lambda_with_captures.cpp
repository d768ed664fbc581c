// SPDX-License-Identifier: BSL-1.0
// expect: >> takes layers, and this is none
// expect: must become constants or template arguments
#include <sinter/sinter.hpp>

using namespace sinter;

int main() {
    float slope = 0.3f;
    auto net = features<4> >> dense<8> >> [slope](tensor x) { return x * slope; } >> dense<2>;
    estimator model{net, softmax_cross_entropy, sgd{}};
}
