// SPDX-License-Identifier: BSL-1.0
// shows training: what a value holds is carried, or it is a compile error
// expect: >> takes layers, and this is none
// expect: members of a class, must become constants or template arguments
#include <sinter/sinter.hpp>

using namespace sinter;

struct scaled : plain_layer<scaled> {
    float factor = 1.f;
    constexpr scaled(float f) : factor(f) {}
    static constexpr tensor trace(tensor x) { return x; }
};
constexpr auto net = features<4> >> dense<8> >> scaled{2.f} >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
