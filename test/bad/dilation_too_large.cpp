// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::window_out_of_range
// expect: got<3, 1, 1200000000, 0>
// expect: needed<65535, 65535, 32767, 65535>
#include <sinter/sinter.hpp>

using namespace sinter;

// Taps that lie further apart than an int can tell.
constexpr auto net = image<64, 64, 1> >> conv2d<4, 3, window{.padding = padding::valid, .dilation = 1'200'000'000}>
    >> global_avg_pool;

int main() { estimator model{net, mse, sgd{}}; }
