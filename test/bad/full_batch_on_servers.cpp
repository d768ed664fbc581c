// SPDX-License-Identifier: BSL-1.0
// expect: full_batch: L-BFGS takes all gradients in one place
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/full_batch.hpp>

using namespace sinter;

constexpr auto net = features<3> >> dense<2>;

int main() { full_batch model{net, mse, parameter_server<async>{}}; }
