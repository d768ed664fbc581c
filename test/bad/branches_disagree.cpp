// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::branches_disagree
// expect-gcc: in_op<printed<5>{"cond"}>
// expect-clang: in_op<'c', 'o', 'n', 'd'>
// expect-gcc: in_layer<printed<6>{"block"}>
// expect-clang: in_layer<'b', 'l', 'o', 'c', 'k'>
// expect: got<4>
// expect: needed<3>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// One branch gives three numbers, the other four.
constexpr auto net = image<5, 3, 1>
    >> named<"block">([](tensor image) {
           const tensor x = ops::reshape(image, extents(5, 3));
           return cond(constant(x.g, 1.f), [](bundle o) { return bundle(ops::slice(o[0], 0, 0, 3)); },
                       [](bundle o) { return bundle(ops::slice(o[0], 0, 0, 4)); }, ops::reshape(x, extents(15)))[0];
       })
    >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
