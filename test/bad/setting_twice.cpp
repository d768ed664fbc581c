// SPDX-License-Identifier: BSL-1.0
// expect: estimator: two at_most, two built_with or two strategies; one of each is needed
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// Which batch is the largest?
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, at_most<16>, at_most<256>}; }
