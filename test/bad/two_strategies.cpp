// SPDX-License-Identifier: BSL-1.0
// expect: two max_batch, two built_with or two strategies: one of each is needed
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

constexpr auto net = features<12> >> dense<10>;

int main() { trainer model{net, mse, sgd{}, single<cpu_device>{}, max_batch<16>, single<cpu_device>{}}; }
