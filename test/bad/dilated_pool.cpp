// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::dilation_refused
// expect: got<1, 2, 2>
// expect: needed<1, 1, 1>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = image<28, 28, 1>
    >> [](tensor x) { return ops::max_pool(x, {2, 2}, window{.stride = 2, .dilation = {2, 2}}); } >> flatten
    >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
