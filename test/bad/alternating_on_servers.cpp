// SPDX-License-Identifier: BSL-1.0
// expect: losses that alternate (alternating_trainer) train by several programs; servers update by one
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>

using namespace sinter;

constexpr auto net = features<3> >> named<"a">(dense<2>) >> named<"b">(dense<2>);

int main() {
    alternating_trainer model{net, alternating{phase<"a/*">(mse, sgd{}), phase<"b/*">(mse, sgd{})}, parameter_server<async>{}};
}
