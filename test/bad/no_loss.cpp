// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::loss_missing
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<10>
// expect: needed<>
#include <sinter/sinter.hpp>

using namespace sinter;

// What shall be trained for?
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, sgd{}}; }
