// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::carry_changes_shape
// expect-gcc: in_op<printed<5>{"scan"}>
// expect-clang: in_op<'s', 'c', 'a', 'n'>
// expect-gcc: in_layer<printed<6>{"block"}>
// expect-clang: in_layer<'b', 'l', 'o', 'c', 'k'>
// expect: got<4>
// expect: needed<3>
#include <sinter/ops.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

// A carry that grows from iteration to iteration.
constexpr auto net = image<5, 3, 1>
    >> named<"block">([](tensor image) {
           const tensor x = ops::reshape(image, extents(5, 3));
           return scan([](bundle h, bundle s) { return scan_step{bundle(concat(h[0], ops::slice(s[0], 0, 0, 1))), h}; },
                       ops::broadcast_to(constant(x.g, 0.f), batch_of(3)), x).outputs[0];
       })
    >> flatten >> dense<10>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
