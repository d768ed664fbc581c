// SPDX-License-Identifier: BSL-1.0
// shows training: what a value holds is carried, or it is a compile error
// expect: named, shared, checkpoint and initialized take layers, and this is none
// expect: members and captures must become constants or template arguments
#include <sinter/sinter.hpp>

using namespace sinter;

int main() {
    const float factor = 2.f;
    const auto net = features<4> >> dense<2> >> named<"scale">([factor](tensor x) { return x * factor; });
    estimator model{net, softmax_cross_entropy, sgd{}};
}
