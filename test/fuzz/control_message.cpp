// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes in place of handshakes, frames, control messages, lists of rows and elastic jobs'
//     datagrams and messages
// needs: distributed
// libFuzzer target: what members and servers say besides numbers. Any bytes are refused, or are a message whose bytes
// read as the same message. The first byte says which.
#include "message.hpp"
#include <sinter/net/archive.hpp>
#include <sinter/net/control_message.hpp>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace {
using namespace sinter;

/// What is a vector in some of the servers' calls.
struct numbers {
    std::uint64_t which = 0;
    std::vector<double> x;
    template <class A>
    void serialize(A& a, unsigned) { a & which & x; }
};
template <class Message>
void try_as(span<const std::byte> bytes) {
    Message m;
    try {
        m = wire::restored<Message>(bytes);
    } catch (const format_error& e) {
        must_be_fit(e);
        return;
    }
    if constexpr (std::is_same_v<Message, wire::message::failure>) must_be_fit(m.error());
    const auto again = wire::archived(m);
    if (again.size() != bytes.size() || (again.size() && std::memcmp(again.data(), bytes.data(), again.size()) != 0))
        std::abort();
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wire::message;
    if (size < 1) return 0;
    const span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    switch (data[0] % 7) {
        case 0: try_as<heartbeat>(bytes); break;
        case 1: try_as<failure>(bytes); break;
        case 2: try_as<stop>(bytes); break;
        case 3: try_as<leave>(bytes); break;
        case 4: try_as<exchange>(bytes); break;
        case 5: try_as<roster>(bytes); break;
        default: try_as<numbers>(bytes);
    }
    return 0;
}
