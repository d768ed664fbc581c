// SPDX-License-Identifier: BSL-1.0
// shows training: what a value holds is carried, or it is a compile error
// expect: fault_kind::loss_holds_values
#include <sinter/sinter.hpp>

using namespace sinter;

struct scaled_mse {
    float factor = 1.f;
    constexpr tensor operator()(tensor y, tensor t) const { return mean((y - t) * (y - t), {-1}) * factor; }
};
constexpr auto net = features<2> >> dense<1>;

int main() { estimator model{net, scaled_mse{100.f}, sgd{}}; }
