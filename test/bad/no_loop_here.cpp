// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::no_loop_here
// expect-gcc: in_op<printed<5>{"scan"}>
// expect-clang: in_op<'s', 'c', 'a', 'n'>
// expect-gcc: in_layer<printed<6>{"block"}>
// expect-clang: in_layer<'b', 'l', 'o', 'c', 'k'>
// expect: got<3>
// expect: needed<>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// A loop within a loop.
constexpr auto net = image<5, 3, 1>
    >> named<"block">([](tensor image) {
           const tensor x = ops::reshape(image, extents(5, 3));
           return scan([](bundle, bundle s) {
               return scan_step{{}, map_fn([](tensor t) { return t * 2.f; }, ops::reshape(s[0], extents(3, 1)))};
           }, bundle{}, x).outputs[0];
       })
    >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
