// SPDX-License-Identifier: BSL-1.0
// shows network: any bytes in place of handshakes, frames, control messages, lists of rows and elastic jobs'
//     datagrams and messages
// needs: distributed
// libFuzzer target: any bytes are refused, or are a frame; a header that is read is written as the same bytes. The
// first byte says how the bytes arrive, and with which key.
#include "message.hpp"
#include <sinter/net/data_link.hpp>
#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    if (size < 2) return 0;
    const span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    wire::header_block block{};
    std::memcpy(block.data(), bytes.data(), std::min(bytes.size(), block.size()));
    for (const bool repaired : {false, true}) {   // with a check that fits, the fields behind it are reached
        if (repaired)
            wire::detail::put(block.data() + 56, base::checksum::of(span<const std::byte>(block).first(56), 7));
        wire::frame_header h;
        if (wire::decode(block, 7, h) == wire::header_fault::none && wire::encode(h, 7) != block) std::abort();
    }
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) std::abort();
    wire::direction_key key{.secret = (data[0] & 1) != 0, .key = {}, .connection = {}, .seed = 7};
    wire::channel sender{io::descriptor(fds[0])};
    wire::data_link link{wire::channel(io::descriptor(fds[1])), key, key, {0, "worker/0", "a:1"}};
    std::vector<std::byte> sent(bytes.begin(), bytes.end());
    if ((data[0] & 2) != 0 && sent.size() >= block.size()) std::memcpy(sent.data(), block.data(), block.size());
    const iovec part{sent.data(), sent.size()};
    sender.write(&part, 1);
    sender.shut_down();
    std::vector<std::byte> into(data[0] >> 2);
    try {
        wire::frame_header h;
        wire::decode(block, 7, h);   // what is expected is what the header says, so that the seal is reached
        link.receive(h.tag, into);
        while (!link.fill()) {}
    } catch (const cluster_error& e) {
        must_be_fit(e);
    }
    return 0;
}
