// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::loss_not_scalar
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<10>
// expect: needed<>
// refuse: warning:
#include <sinter/sinter.hpp>

using namespace sinter;

// A loss without a batch axis stands as it is, so that it must be one number.
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, [](tensor y, tensor) { return mean(y, {batch_axis}); }, sgd{}}; }
