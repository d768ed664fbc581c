// SPDX-License-Identifier: BSL-1.0
// expect: two max_batch, two built_with or two strategies: one of each is needed
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// Which batch is the largest?
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, max_batch<16>, max_batch<256>}; }
