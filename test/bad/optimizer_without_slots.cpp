// SPDX-License-Identifier: BSL-1.0
// expect: estimator: what follows the loss is no optimizer. One has static constexpr int slots and n_scalars
#include <sinter/sinter.hpp>

using namespace sinter;

struct mine {
    float rate = 0.1f;
    static constexpr int n_scalars = 1;
    static constexpr void update(update_context& u) {
        u.set_slot(1, u.slot(0) + u.gradient());
        u.set_parameter(u.parameter() - u.slot(1) * u.scalar(0));
    }
    void scalars(std::int64_t, float* out) const { out[0] = rate; }
};
constexpr auto net = features<4> >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, mine{}}; }
