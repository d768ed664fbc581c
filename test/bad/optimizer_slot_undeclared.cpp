// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::undeclared_slot
// expect: got<1>
// expect: needed<2>
#include <sinter/sinter.hpp>

using namespace sinter;

struct mine {
    float rate = 0.1f;
    static constexpr int slots = 1, n_scalars = 1;
    static constexpr void update(update_context& u) {
        u.set_slot(1, u.slot(0) + u.gradient());
        u.set_parameter(u.parameter() - u.slot(1) * u.scalar(0));
    }
    void scalars(std::int64_t, float* out) const { out[0] = rate; }
};
constexpr auto net = features<4> >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, mine{}}; }
