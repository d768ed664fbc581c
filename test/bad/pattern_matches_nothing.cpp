// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::no_parameter_matches
// expect-gcc: in_layer<printed<7>{"*/bais"}>
// expect-clang: in_layer<'*', '/', 'b', 'a', 'i', 's'>
// expect: got<0>
// expect: needed<4>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>

using namespace sinter;

constexpr auto net = features<12> >> dense<4> >> relu >> dense<2>;

int main() {
    estimator model{net, softmax_cross_entropy,
                    parameter_groups{adamw{}, group_of<"*/bais">(sgd{}), frozen<"dense/kernel">}};
}
