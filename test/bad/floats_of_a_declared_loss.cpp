// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::loss_must_declare_float_targets
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<>
// expect: needed<10>
#include <sinter/sinter.hpp>

using namespace sinter;

// mse compares floats, and this declaration gives it class numbers.
constexpr auto net = features<12> >> dense<10>;

int main() {
    estimator model{net, expects<target_kind::class_index>([](tensor y, tensor t) { return mse(y, t); }), sgd{}};
}
