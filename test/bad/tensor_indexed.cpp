// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::tensor_has_no_value
// expect: got<6>
#include <sinter/sinter.hpp>

using namespace sinter;

int main() {
    constexpr auto net = features<6> >> [](tensor x) { return x[0] + x[1]; } >> dense<1>;
    estimator model{net, mse, sgd{}};
}
