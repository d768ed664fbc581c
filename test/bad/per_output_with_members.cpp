// SPDX-License-Identifier: BSL-1.0
// shows training: what a value holds is carried, or it is a compile error
// expect: fault_kind::loss_holds_values
#include <sinter/sinter.hpp>
#include <sinter/train/losses/per_output.hpp>

using namespace sinter;

struct scaled_mse {
    float factor = 1.f;
    constexpr tensor operator()(tensor y, tensor t) const { return mean((y - t) * (y - t), {-1}) * factor; }
};
constexpr auto net = features<3> >> [](tensor x) { return outputs(dense<2>(x), dense<3>(x)); };

int main() { estimator model{net, per_output(weigh<0.5>(scaled_mse{100.f}), softmax_cross_entropy), sgd{}}; }
