// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/base/checksum.hpp>
#include <sinter/base/target_namespace.hpp>
#include <array>
#include <string>

/// The frame: a header of 64 bytes, the payload, and 16 bytes that a seal makes of both. All
/// numbers are little-endian. Nothing here reads or writes a socket.
namespace sinter::inline SINTER_ORDINARY::wire {

inline constexpr std::uint32_t frame_magic = 0x464E5253;   // "SRNF"
inline constexpr std::uint8_t frame_version = 2;   // 1: XXH64 of payloads
inline constexpr std::size_t header_bytes = 64, seal_bytes = 16;
/// The most payload of one frame.
inline constexpr std::size_t most_payload = std::size_t{1} << 20;

enum class frame_kind : std::uint8_t { data = 1, control = 2 };

/// What both ends of a data frame must agree on before any of it counts.
struct frame_tag {
    std::uint32_t operation = 0;          // the number of the operation, counted by the collective
    std::uint8_t dtype = 0, reduction = 0;
    std::int64_t step = 0;
    std::int32_t bucket = -1;
    std::uint64_t elements = 0;           // of the whole operation
    std::uint64_t offset = 0;             // where this payload begins in it, counted by the collective
    friend bool operator==(const frame_tag&, const frame_tag&) = default;
};

struct frame_header {
    frame_kind kind = frame_kind::data;
    std::uint64_t number = 0;             // of the frame, in its direction of its connection
    frame_tag tag;
    std::uint64_t bytes = 0;              // of the payload
    friend bool operator==(const frame_header&, const frame_header&) = default;
};

/// What is wrong with bytes that should be a header.
enum class header_fault : std::uint8_t { none, not_a_frame, version, damaged, kind, too_long };

namespace detail {
template <class T>
void put(std::byte* at, T n) {
    for (std::size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<std::byte>(static_cast<std::uint64_t>(n) >> 8 * i);
}
template <class T>
T get(const std::byte* at) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) n |= std::to_integer<std::uint64_t>(at[i]) << 8 * i;
    return static_cast<T>(n);
}
} // namespace detail

using header_block = std::array<std::byte, header_bytes>;

/// `seed`: the direction's, so that a header of another connection looks damaged.
inline header_block encode(const frame_header& h, std::uint64_t seed) {
    header_block b{};
    detail::put(b.data(), frame_magic);
    detail::put(b.data() + 4, frame_version);
    detail::put(b.data() + 5, static_cast<std::uint8_t>(h.kind));
    detail::put(b.data() + 6, h.tag.dtype);
    detail::put(b.data() + 7, h.tag.reduction);
    detail::put(b.data() + 8, h.number);
    detail::put(b.data() + 16, h.tag.operation);
    detail::put(b.data() + 20, h.tag.bucket);
    detail::put(b.data() + 24, h.tag.step);
    detail::put(b.data() + 32, h.tag.elements);
    detail::put(b.data() + 40, h.tag.offset);
    detail::put(b.data() + 48, h.bytes);
    detail::put(b.data() + 56, base::checksum::of(span<const std::byte>(b).first(56), seed));
    return b;
}

/// Reads a header; `into` counts only if the answer is `none`. The check over the header comes
/// before its fields, so that a flipped bit is distinguished from a peer that asks for something else.
inline header_fault decode(const header_block& b, std::uint64_t seed, frame_header& into) {
    if (detail::get<std::uint32_t>(b.data()) != frame_magic) return header_fault::not_a_frame;
    if (detail::get<std::uint8_t>(b.data() + 4) != frame_version) return header_fault::version;
    if (detail::get<std::uint64_t>(b.data() + 56) != base::checksum::of(span<const std::byte>(b).first(56), seed))
        return header_fault::damaged;
    into.kind = static_cast<frame_kind>(detail::get<std::uint8_t>(b.data() + 5));
    if (into.kind != frame_kind::data && into.kind != frame_kind::control) return header_fault::kind;
    into.tag.dtype = detail::get<std::uint8_t>(b.data() + 6);
    into.tag.reduction = detail::get<std::uint8_t>(b.data() + 7);
    into.number = detail::get<std::uint64_t>(b.data() + 8);
    into.tag.operation = detail::get<std::uint32_t>(b.data() + 16);
    into.tag.bucket = detail::get<std::int32_t>(b.data() + 20);
    into.tag.step = detail::get<std::int64_t>(b.data() + 24);
    into.tag.elements = detail::get<std::uint64_t>(b.data() + 32);
    into.tag.offset = detail::get<std::uint64_t>(b.data() + 40);
    into.bytes = detail::get<std::uint64_t>(b.data() + 48);
    return into.bytes > most_payload ? header_fault::too_long : header_fault::none;
}

SINTER_COLD inline const char* describe(header_fault f) {
    switch (f) {
        case header_fault::none: return "a frame";
        case header_fault::not_a_frame: return "bytes that are not a frame of Sinter's";
        case header_fault::version: return "a frame of another version";
        case header_fault::damaged: return "a header that was damaged or forged";
        case header_fault::kind: return "a frame of a kind that is not known";
        case header_fault::too_long: return "a frame longer than any may be";
    }
    return "?";
}

/// A tag for an error's text.
SINTER_COLD inline std::string describe(const frame_tag& t, std::uint64_t bytes) {
    return to_text({"operation ", t.operation, " of step ", t.step, ", bucket ", t.bucket, ", ", t.elements,
                   " elements of type ", t.dtype, ", reduction ", t.reduction, ", ", bytes, " bytes at ", t.offset});
}

} // namespace sinter::wire
