// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::loss_not_scalar
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<10>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// A condition where a value was meant.
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, [](tensor y, tensor t) { return y.shape() == t.shape(); }, sgd{}}; }
