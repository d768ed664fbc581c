// SPDX-License-Identifier: BSL-1.0
// expect: sharded_update is for processors
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/distributed.hpp>
#include <sinter/strategy/sharded_update.hpp>

using namespace sinter;

// A device whose memory is not the host's, as a GPU's.
struct elsewhere : cpu_device {
    using cpu_device::cpu_device;
    static constexpr bool shares_memory = false;
};

int main() { [[maybe_unused]] const auto parts = sharded_update(multi_worker<ring, elsewhere>{}); }
