// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::wrong_element_type
// expect-gcc: in_op<printed<12>{"gather_rows"}>
// expect-clang: in_op<'g', 'a', 't', 'h', 'e', 'r', '_', 'r', 'o', 'w', 's'>
// expect-gcc: in_layer<printed<10>{"embedding"}>
// expect-clang: in_layer<'e', 'm', 'b', 'e', 'd', 'd', 'i', 'n', 'g'>
// expect: got<4>
// expect: needed<4>
#include <sinter/sinter.hpp>

using namespace sinter;

// Rows are looked up by integers, indices<4>.
constexpr auto net = features<4> >> embedding<10, 3> >> flatten >> dense<2>;

int main() { estimator model{net, mse, sgd{}}; }
