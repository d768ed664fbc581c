// SPDX-License-Identifier: BSL-1.0
// expect: parameter_server<Mode>: the mode is async, stale<s> or sync<backup>
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<3> >> dense<2>;

int main() { trainer model{net, mse, sgd{}, parameter_server<3>{}}; }
