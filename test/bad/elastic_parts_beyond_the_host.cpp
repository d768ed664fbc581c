// SPDX-License-Identifier: BSL-1.0
// expect: elastic(sharded_update(...)): members that may die are processors
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/distributed.hpp>
#include <sinter/elastic.hpp>
#include <sinter/strategy/sharded_update.hpp>

using namespace sinter;

// A device whose memory is not the host's, as a GPU's.
struct elsewhere : cpu_device {
    using cpu_device::cpu_device;
    static constexpr bool shares_memory = false;
};

int main() { [[maybe_unused]] const auto parts = elastic(sharded_update(multi_worker<ring, elsewhere>{})); }
