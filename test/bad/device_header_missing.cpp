// SPDX-License-Identifier: BSL-1.0
// expect: single<Device>: no device, or its header is missing: <sinter/device/cpu.hpp> has the processor
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/training.hpp>

using namespace sinter;

// training.hpp is what sinter.hpp includes, but for the device.
constexpr auto net = features<12> >> dense<10>;

int main() { estimator model{net, mse, sgd{}}; }
