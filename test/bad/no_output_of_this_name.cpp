// SPDX-License-Identifier: BSL-1.0
// expect: the net gives no output of this name
// refuse: model_error
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<4> >> dense<2> >> output<"score">;

int main() {
    trainer model{net, mse, sgd{}};
    return static_cast<int>(model.output<"scores">().size());
}
