// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// libFuzzer target: what a worker sends to a server. A request that is taken lies within the shard; sections are taken
// all or not at all; blocks that are read are written as the same bytes. The first byte says how the rest is read.
#include <sinter/parameter_server/staged_push.hpp>
#include <cstdlib>
#include <vector>

using namespace sinter;
using namespace sinter::sharded;

static void check(bool right) {
    if (!right) std::abort();
}
/// A server's part: some floats that updates never touch, states, a table of known rows and one that grows.
static shard_layout shard() {
    shard_layout l;
    l.floats = 64;
    l.runs = {{.first = 0, .floats = 48, .group = 0, .tensor = -1}, {.first = 48, .floats = 16, .group = -1, .tensor = -1}};
    l.states = 5;
    l.tables = {{.name = "known", .rows = 7, .row_floats = 3, .group = 0}, {.name = "grows", .rows = -1, .row_floats = 2, .group = 0}};
    return l;
}

static void read_request(span<const std::byte> bytes, const shard_layout& layout) {
    wire::header_block block{};
    std::memcpy(block.data(), bytes.data(), std::min(bytes.size(), block.size()));
    wire::detail::put(block.data() + 56, wire::checksum::of(span<const std::byte>(block).first(56), 7));
    wire::frame_header h;
    if (wire::decode(block, 7, h) != wire::header_fault::none) return;
    for (const int slots : {0, 2}) {
        if (fault_of(h, layout, slots)) continue;
        const auto what = static_cast<word>(h.tag.operation);
        check(h.bytes <= wire::most_payload);
        if (what == word::gradient) check(h.tag.offset + h.tag.elements <= 48 && h.bytes == 4 * h.tag.elements);
        if (what == word::read || what == word::write) {
            const std::int64_t size = array_floats(layout, h.tag.bucket, slots);
            check(size >= 0 && size <= 64 && h.tag.offset <= static_cast<std::uint64_t>(size) &&
                  h.tag.elements <= static_cast<std::uint64_t>(size) - h.tag.offset);
        }
    }
}

static void read_push(span<const std::byte> bytes, const shard_layout& layout) {
    std::int64_t sections = 0;
    const char* const fault = read_sections(bytes, layout, [&](const section& s, span<const std::byte> keys, span<const std::byte> floats) {
        ++sections;
        check(s.count >= 0 && floats.data() >= bytes.data() && floats.data() + floats.size() <= bytes.data() + bytes.size());
        if (s.kind != section::rows) check(s.first >= 0 && s.first + s.count <= (s.kind == section::dense ? 48 : 5));
        else
            for (std::size_t k = 0; k < keys.size(); k += 8)
                check(s.table == 1 || (wire::detail::get<std::int64_t>(keys.data() + k) >= 0 &&
                                       wire::detail::get<std::int64_t>(keys.data() + k) < 7));
    });
    check(!fault || sections == 0);
    staged_push push(layout);
    const char* const said = push.take(bytes);
    check((said == nullptr) == (fault == nullptr));
    if (said) check(!push.begun());
    push.fault();
}

template <class Block>
static void read_block(span<const std::byte> bytes) {
    Block b, again;
    if (!b.decode(bytes)) return;
    std::vector<std::byte> to(Block::bytes + bytes.size());   // an answer says how much follows it
    b.encode(to.data());
    check(again.decode(to));
    std::vector<std::byte> once_more(to.size());
    again.encode(once_more.data());
    check(to == once_more);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    static const shard_layout layout = shard();
    const span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    switch (data[0] % 4) {
        case 0: read_request(bytes, layout); break;
        case 1: read_push(bytes, layout); break;
        case 2: read_block<commit_block>(bytes); break;
        default: read_block<answer_block>(bytes); break;
    }
    return 0;
}
