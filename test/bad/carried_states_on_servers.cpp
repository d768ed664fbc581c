// SPDX-License-Identifier: BSL-1.0
// expect: a state of this net belongs to the examples of a batch
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/layers/lstm.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = array<4, 3> >> lstm<5, recurrent_options{.carried = true}> >> flatten >> dense<2>;

int main() { trainer model{net, mse, sgd{}, parameter_server<async>{}}; }
