// SPDX-License-Identifier: BSL-1.0
// expect: the model wants more than the 8 MiB that there are
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// All memory of a model is known when it is compiled: a bound on it is one line.
constexpr auto net = features<400> >> dense<4000>;
using bounded = trainer<std::remove_const_t<decltype(net)>, mse_loss, adam, 64>;
static_assert(bounded::bytes() <= 8 << 20, "the model wants more than the 8 MiB that there are");

int main() { bounded trained{adam{}}; }
