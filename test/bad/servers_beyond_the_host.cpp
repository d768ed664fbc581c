// SPDX-License-Identifier: BSL-1.0
// expect: parameter_server: workers compute on processors; this device has memory of its own
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/parameter_server.hpp>

using namespace sinter;

// A device whose memory is not the host's, as a GPU's.
struct elsewhere : cpu_device {
    using cpu_device::cpu_device;
    static constexpr bool shares_memory = false;
};
constexpr auto net = features<3> >> dense<2>;

int main() { trainer model{net, mse, sgd{}, parameter_server<async, elsewhere>{}}; }
