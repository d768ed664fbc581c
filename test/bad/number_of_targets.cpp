// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_number_of_inputs
// expect: got<2>
// expect: needed<3>
#include <sinter/sinter.hpp>

using namespace sinter;

// A loss of a prediction and two targets that declares none, and so is given one target.
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, [](tensor y, tensor t, tensor w) { return (y - t) * w; }, sgd{}}; }
