// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::inner_extents_differ
// expect-gcc: in_op<printed<7>{"einsum"}>
// expect-clang: in_op<'e', 'i', 'n', 's', 'u', 'm'>
// expect: got<9, 4>
// expect: needed<8, 10>
#include <sinter/ops/einsum.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto project = [](tensor x) { return einsum<"ti,io->to">(x, parameter(x, "w", extents(9, 4), zeros)); };
constexpr auto net = array<8, 10> >> project >> flatten >> dense<3>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
