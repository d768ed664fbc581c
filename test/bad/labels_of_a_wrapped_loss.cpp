// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::loss_must_declare_class_index_targets
// expect-gcc: in_op<printed<8>{"row_sum"}>
// expect-clang: in_op<'r', 'o', 'w', '_', 's', 'u', 'm'>
// expect-gcc: in_layer<printed<1>{""}>
// expect-clang: in_layer<>
// expect: got<10>
// expect: needed<10>
#include <sinter/sinter.hpp>

using namespace sinter;

// A loss of one's own that does not say what its second tensor is gets float32 like the prediction, not class numbers.
constexpr auto net = features<12> >> dense<10>;

int main() {
    estimator model{net,
                    [](tensor logits, tensor labels) { return 0.5f * softmax_cross_entropy(logits, labels); }, sgd{}};
}
