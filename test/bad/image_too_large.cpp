// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::tensor_too_large
// expect: got<256, 256, 256, 256, 3>
// expect: needed<2147483647>
#include <sinter/layers/upsample.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// 12.9 billion numbers an image, which the layer reshapes.
constexpr auto net = image<256, 256, 3> >> upsample<256> >> global_avg_pool >> dense<1>;

int main() { estimator model{net, mse, sgd{}}; }
