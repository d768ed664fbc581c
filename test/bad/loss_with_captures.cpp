// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::loss_holds_values
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<2> >> dense<1>;

int main() {
    const float factor = 100.f;
    estimator model{net,
                    summed([factor](tensor y, tensor t) { return mean((y - t) * (y - t), {-1}) * factor; }), sgd{}};
}
