// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::inner_extents_differ
// refuse: the net gives no output
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<4>
    >> [](tensor x) { return matmul(x, weights(x, "w", extents(3, 5), zeros)); } >> output<"score">;

int main() {
    trainer model{net, mse, sgd{}};
    return static_cast<int>(model.output<"scores">().size());
}
