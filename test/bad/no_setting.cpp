// SPDX-License-Identifier: BSL-1.0
// expect: after net, loss and optimizer come settings only: max_batch<N>, built_with<program_options{...}>, a strategy such as
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// A number is no largest batch: max_batch<256> is.
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, 256}; }
