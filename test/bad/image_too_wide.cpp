// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::tensor_too_large
// expect: got<50000, 60000>
// expect: needed<2147483647>
#include <sinter/layers/upsample.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// A row of three billion pixels: no int holds their number.
constexpr auto net = image<1, 50000, 1> >> upsample<per_axis(1, 60000), interpolation::bilinear> >> flatten >> dense<1>;

int main() { estimator model{net, mse, sgd{}}; }
