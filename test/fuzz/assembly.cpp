// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes in place of handshakes, frames, control messages, lists of rows and elastic jobs'
//     datagrams and messages
// needs: distributed
#include "message.hpp"
#include <sinter/net/elastic/assembly.hpp>
#include <cstdlib>

// Datagrams of an elastic job, as one of five processes gets them, one after the other: a byte that says when, one that
// says how long it is, and the message. Its list of members always has slots that there are, each once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter::wire;
    std::uint64_t drawn = 1;
    double now = 0;
    std::size_t sent = 0;
    assembly a({.slots = 5, .most = 4, .dead_after = 1, .stuck_after = 10, .join_within = 10}, 2,
               [&] { return drawn += 2; }, now);
    if (size > 0 && data[0] & 1) a.begin({1, {{0, 10, 1}, {1, 11, 1}, {2, a.self().incarnation, 1}, {3, 13, 1}}});
    if (size > 0 && data[0] & 2) a.regroup(7, true, (data[0] & 4) != 0, 1, now);
    const auto send = [&](int slot, const assembly_message& m) {
        if (slot < 0 || slot >= 5) std::abort();
        sent += archived(m).size();
    };
    for (std::size_t at = 1; at + 2 <= size && sent < 1'000'000;) {
        now += data[at] / 100.;
        const std::size_t n = std::min<std::size_t>(data[at + 1], size - at - 2);
        try {
            a.receive(restored<assembly_message>({reinterpret_cast<const std::byte*>(data + at + 2), n}), now, send);
        } catch (const sinter::format_error& e) {
            must_be_fit(e);
        }
        a.tick(now, send);
        int last = -1;
        for (const member_entry& s : a.list().entries) {
            if (s.slot <= last || s.slot >= 5) std::abort();
            last = s.slot;
        }
        at += 2 + n;
    }
    return 0;
}
