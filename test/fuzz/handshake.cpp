// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// libFuzzer target: whatever a stranger says, a handshake ends refused; a greeting that is read is written as the same
// greeting.
#include <sinter/net/handshake.hpp>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    if (size < 1) return 0;
    net::greeting own;
    own.job = "j";
    own.size = 2;
    const bool dials = (data[0] & 1) != 0;
    net::handshake h(dials, own, "secret");
    if (dials) h.said();
    const std::byte* at = reinterpret_cast<const std::byte*>(data) + 1;
    std::size_t left = size - 1;
    while (h.now() == net::handshake::state::talking && left >= h.wanted() && h.wanted() != 0) {
        const std::size_t n = h.wanted();
        if (n == net::greeting_bytes) {
            net::greeting_block block;
            std::memcpy(block.data(), at, n);
            net::greeting g, again;
            if (net::decode(block, g) == net::greeting_fault::none &&
                (net::decode(net::encode(g), again) != net::greeting_fault::none || again.job != g.job ||
                 again.address != g.address || again.rank != g.rank || !(again.same == g.same)))
                std::abort();
        }
        h.hear({at, n});
        at += n;
        left -= n;
        if (h.to_say().size() != 0) h.said();
    }
    if (h.now() == net::handshake::state::accepted || h.now() == net::handshake::state::to_decide || h.proved())
        std::abort();
    return 0;
}
