// SPDX-License-Identifier: BSL-1.0
// expect: tables (embedding) are updated by rows on the device: take the strategy without sharded_update
// expect-gcc: static assertion failed
// expect-clang: static_assert failed
#include <sinter/sinter.hpp>
#include <sinter/distributed.hpp>
#include <sinter/layers/embedding.hpp>
#include <sinter/strategy/sharded_update.hpp>

using namespace sinter;

// A device whose memory is not the host's, as a GPU's.
struct elsewhere : cpu_device {
    using cpu_device::cpu_device;
    static constexpr bool shares_memory = false;
    template <class P>
    void reserve_list(runner<P>&, int, int, int) const {}
    template <class P>
    void place_lists(runner<P>&, const row_list*) {}
};
constexpr auto net = indices<2> >> embedding<40, 4> >> flatten >> dense<3>;

int main() {
    trainer t{net, softmax_cross_entropy, adam{}, max_batch<4>, sharded_update(multi_worker<ring, elsewhere>{})};
    t.step({});
}
