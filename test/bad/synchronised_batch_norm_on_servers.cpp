// SPDX-License-Identifier: BSL-1.0
// expect: synchronised_batch_norm adds up within a step what all workers have
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<3> >> dense<2> >> synchronised_batch_norm;

int main() { trainer model{net, mse, sgd{}, parameter_server<async>{}}; }
