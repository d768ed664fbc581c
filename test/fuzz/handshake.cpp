// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes in place of handshakes, frames, control messages, lists of rows and elastic jobs'
//     datagrams and messages
// needs: distributed
// libFuzzer target: whatever a stranger says, a handshake ends refused; a greeting that is read is written as the same
// greeting.
#include <sinter/net/handshake.hpp>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    if (size < 1) return 0;
    wire::greeting own;
    own.job = "j";
    own.size = 2;
    const bool dials = (data[0] & 1) != 0;
    wire::handshake h(dials, own, "secret");
    if (dials) h.sent();
    const std::byte* at = reinterpret_cast<const std::byte*>(data) + 1;
    std::size_t left = size - 1;
    while (h.now() == wire::handshake::state::going_on && left >= h.wanted() && h.wanted() != 0) {
        const std::size_t n = h.wanted();
        if (n == wire::greeting_bytes) {
            wire::greeting_block block;
            std::memcpy(block.data(), at, n);
            wire::greeting g, again;
            if (wire::decode(block, g) == wire::greeting_fault::none &&
                (wire::decode(wire::encode(g), again) != wire::greeting_fault::none || again.job != g.job ||
                 again.address != g.address || again.rank != g.rank || !(again.same == g.same)))
                std::abort();
        }
        h.receive({at, n});
        at += n;
        left -= n;
        if (h.outgoing().size() != 0) h.sent();
    }
    if (h.now() == wire::handshake::state::accepted || h.now() == wire::handshake::state::to_decide || h.proved())
        std::abort();
    return 0;
}
