// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::no_parameter_matches
// expect-gcc: in_layer<printed<10>{"*/weights"}>
// expect-clang: in_layer<'*', '/', 'w', 'e', 'i', 'g', 'h', 't', 's'>
// expect: got<0>
// expect: needed<2>
#include <sinter/sinter.hpp>
#include <sinter/expr/initialized.hpp>

using namespace sinter;

constexpr auto net = features<12> >> initialized<he_normal, "*/weights">(dense<4>) >> relu >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy, adam{}};
}
