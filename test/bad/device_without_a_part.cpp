// SPDX-License-Identifier: BSL-1.0
// expect: single<Device>: no device, or its header is missing
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>

using namespace sinter;

// It says neither what programs are planned for nor what runs them.
struct abacus {
    int beads = 10;
};
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}, single<abacus>{}}; }
