// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::batched_ranks_differ
// expect: got<4, 5>
// expect: needed<1, 4, 5>
#include <sinter/sinter.hpp>

using namespace sinter;

// A matrix of each example, times a stack of matrices.
constexpr auto net = array<2, 3, 4> >> named<"mix">([](tensor x) {
    const tensor other = ops::reshape(dense<20>(flatten(x)), extents(4, 5));
    return matmul(x, other);
}) >> flatten >> dense<2>;

int main() { estimator model{net, softmax_cross_entropy, sgd{}}; }
