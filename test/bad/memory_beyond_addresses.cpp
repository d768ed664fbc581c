// SPDX-License-Identifier: BSL-1.0
// expect: floats_of_an_arena
// expect: 8589934592
#include <sinter/sinter.hpp>

using namespace sinter;

// A batch of which each activation has 6.5 billion floats, and no arena can have more than 2^33.
constexpr auto net = image<256, 256, 1> >> activation::tanh
    >> [](tensor x) { return x * ops::mean(x, {0, 1}, keep::yes); } >> flatten >> dense<1>;

int main() { estimator model{net, mse, sgd{}, max_batch<200000>}; }
