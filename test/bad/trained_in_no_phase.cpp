// SPDX-License-Identifier: BSL-1.0
// expect: fault_kind::trained_in_no_phase
// expect-gcc: in_op<printed<10>{"parameter"}>
// expect-clang: in_op<'p', 'a', 'r', 'a', 'm', 'e', 't', 'e', 'r'>
// expect-gcc: in_layer<printed<4>{"eye"}>
// expect-clang: in_layer<'e', 'y', 'e'>
// expect: got<3>
// expect: needed<3>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/alternating.hpp>

using namespace sinter;

// Nobody trains the eye's bias.
constexpr auto net = features<4> >> named<"eye">(dense<3>) >> named<"hand">(dense<2>);
constexpr alternating turns{phase<"eye/kernel">(mse_loss{}, sgd{}), phase<"hand/*">(mse_loss{}, sgd{})};
using first = phase_optimizer<std::remove_const_t<decltype(turns)>, 0>;

int main() { trainer<std::remove_const_t<decltype(net)>, mse_loss, first> model; }
