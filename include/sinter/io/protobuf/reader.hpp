// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/protobuf/writer.hpp>
#include <cstring>
#if SINTER_BODIES
#include <sinter/base/to_text.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::protobuf {

/// A message's fields, one after the other, out of bytes that stay where they are:
///
///     protobuf::reader r(bytes, "event.pb");
///     while (r.next())
///         if (r.is(1, protobuf::wire_type::length)) name = r.text();
///         else if (r.is(2, protobuf::wire_type::varint)) step = r.integer();
///
/// A field that nobody takes is skipped, as protobuf does with those that it does not know, and with known ones of
/// another wire type. The bytes may be hostile: each length is held against what is left, a number has at most ten
/// bytes and 64 bits, a group (which is skipped) has at most 100 others within each other. Whatever does not hold is a
/// format_error that names the message and the byte. Takes no memory; a message within a message is read by a reader of
/// its own, so how deep that goes is up to the caller.
class reader {
public:
    /// `name` is what errors call the message; it must live as long as the reader and those of messages within.
    explicit reader(span<const std::byte> bytes, std::string_view name = "protobuf message")
        : reader(bytes, bytes.data(), name) {}

    /// Goes to the next field; false at the end.
    bool next() {
        if (waiting_) skip();
        if (at_ == end_) return false;
        const std::uint64_t tag = take_varint();
        if (tag < 8 || tag > UINT32_MAX || !known_type(tag & 7)) refuse_tag(tag);
        tag_ = static_cast<std::uint32_t>(tag);
        waiting_ = true;
        return true;
    }
    std::uint32_t field() const { return tag_ >> 3; }
    wire_type type() const { return static_cast<wire_type>(tag_ & 7); }
    bool is(std::uint32_t field, wire_type type) const { return tag_ == tag_of(field, type); }
    /// Both in one number, to be compared with tag_of(field, type).
    std::uint32_t tag() const { return tag_; }

    // The value of the field that next() went to; each at most once, and of a field of its wire type.

    /// int32, int64, uint32, uint64, bool, enum (of 32 bits: the lower half).
    std::int64_t integer() {
        take(wire_type::varint);
        return static_cast<std::int64_t>(take_varint());
    }
    /// sint32, sint64: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ...
    std::int64_t zigzag() {
        const auto n = static_cast<std::uint64_t>(integer());
        return static_cast<std::int64_t>(n >> 1 ^ (0 - (n & 1)));
    }
    float real() {
        take(wire_type::fixed32);
        return std::bit_cast<float>(take_fixed<std::uint32_t>());
    }
    double real64() {
        take(wire_type::fixed64);
        return std::bit_cast<double>(take_fixed<std::uint64_t>());
    }
    /// string, bytes, a message, or a list of numbers in one field: bytes of those that the reader was given.
    span<const std::byte> bytes() {
        take(wire_type::length);
        return take_bytes();
    }
    std::string_view text() {
        const auto b = bytes();
        return {reinterpret_cast<const char*>(b.data()), b.size()};
    }
    /// Nothing of it: next() does the same where nobody took it.
    SINTER_APART void skip();
    /// A message within this one; errors count bytes from where the outermost begins.
    reader nested() { return reader(bytes(), begin_, name_); }

    // Bytes that are numbers without tags, as in a packed list: reader(bytes, name).

    bool at_end() const { return at_ == end_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    const std::byte* here() const { return at_; }
    std::uint64_t take_varint() {
        if (at_ != end_ && *at_ < std::byte{128}) return std::to_integer<std::uint64_t>(*at_++);
        return take_long_varint();
    }
    template <class Bits>
    Bits take_fixed() {
        if (left() < sizeof(Bits)) refuse_length(sizeof(Bits));
        Bits bits;
        std::memcpy(&bits, at_, sizeof bits);
        at_ += sizeof bits;
        if constexpr (std::endian::native == std::endian::big)
            bits = sizeof bits == 8 ? static_cast<Bits>(__builtin_bswap64(bits))
                                    : static_cast<Bits>(__builtin_bswap32(static_cast<std::uint32_t>(bits)));
        return bits;
    }

    /// Throws format_error with the message's name and the byte to which it was read.
    [[noreturn]] SINTER_APART SINTER_COLD void refuse(std::string_view what, std::string_view got,
                                                      std::string_view needed) const;

private:
    const std::byte* at_;
    const std::byte* end_;
    const std::byte* begin_;   // of the outermost message
    std::string_view name_;
    std::uint32_t tag_ = 0;
    bool waiting_ = false;     // the field's value was not read yet

    static constexpr std::size_t deepest_group = 100;   // as protobuf's own limit

    reader(span<const std::byte> bytes, const std::byte* begin, std::string_view name)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()), begin_(begin), name_(name) {}

    static bool known_type(std::uint64_t type) { return type <= 5 && type != 4; }
    void take(wire_type needed) {
        if (!waiting_ || type() != needed) refuse_type(needed);
        waiting_ = false;
    }
    span<const std::byte> take_bytes() {
        const std::uint64_t n = take_varint();
        if (n > left()) refuse_length(n);
        const std::byte* const from = at_;
        at_ += n;
        return {from, static_cast<std::size_t>(n)};
    }
    SINTER_APART std::uint64_t take_long_varint();
    SINTER_APART SINTER_COLD void skip_group();
    void skip_value(std::uint32_t tag);

    [[noreturn]] SINTER_APART SINTER_COLD void refuse_tag(std::uint64_t tag) const;
    [[noreturn]] SINTER_APART SINTER_COLD void refuse_type(wire_type needed) const;
    [[noreturn]] SINTER_APART SINTER_COLD void refuse_length(std::uint64_t n) const;
};

inline void reader::skip_value(std::uint32_t tag) {
    switch (static_cast<wire_type>(tag & 7)) {
    case wire_type::varint: take_varint(); break;
    case wire_type::fixed64: take_fixed<std::uint64_t>(); break;
    case wire_type::fixed32: take_fixed<std::uint32_t>(); break;
    case wire_type::length: take_bytes(); break;
    case wire_type::group:
    case wire_type::group_end: skip_group(); break;
    }
}

#if SINTER_BODIES
SINTER_APART std::uint64_t reader::take_long_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (at_ == end_) refuse("message is cut short", "its end within a number", "a last byte below 128");
        const auto byte = std::to_integer<std::uint64_t>(*at_++);
        if (shift == 63 && byte > 1) break;
        value |= (byte & 127) << shift;
        if (byte < 128) return value;
    }
    refuse("a number is too long", "more than 64 bits", "at most ten bytes, the last of which is 1");
}

SINTER_APART void reader::skip() {
    waiting_ = false;
    skip_value(tag_);
}

/// Without recursion: the numbers of the groups that are open are kept here.
SINTER_APART void reader::skip_group() {
    std::uint32_t open[deepest_group];
    std::size_t depth = 0;
    for (std::uint64_t tag = tag_;; tag = take_varint()) {
        const auto field = static_cast<std::uint32_t>(tag >> 3);
        const auto type = static_cast<wire_type>(tag & 7);
        if (tag < 8 || tag > UINT32_MAX || (tag & 7) > 5) refuse_tag(tag);
        if (type == wire_type::group) {
            if (depth == deepest_group)
                refuse("groups are too deep", to_text({"more than ", deepest_group}),
                       to_text({"at most ", deepest_group, " within each other"}));
            open[depth++] = field;
        } else if (type == wire_type::group_end) {
            if (open[depth - 1] != field)   // depth is at least 1: the first tag here begins a group
                refuse("a group ends that was not begun", to_text({"field ", field}),
                       to_text({"the end of field ", open[depth - 1]}));
            if (--depth == 0) return;
        } else {
            skip_value(static_cast<std::uint32_t>(tag));
        }
        if (at_ == end_) refuse("message is cut short", "its end within a group", "the end of the group");
    }
}

SINTER_APART void reader::refuse(std::string_view what, std::string_view got, std::string_view needed) const {
    throw format_error(what, to_text({name_, ", byte ", at_ - begin_}), got, needed);
}

SINTER_APART void reader::refuse_tag(std::uint64_t tag) const {
    refuse("message is damaged", to_text({"field ", tag >> 3, " of wire type ", tag & 7}),
           "a field from 1 to 536870911 of wire type 0, 1, 2, 3 or 5");
}

SINTER_APART void reader::refuse_type(wire_type needed) const {
    refuse("field is of another wire type",
           waiting_ ? to_text({"field ", field(), " of wire type ", tag_ & 7}) : "one that was taken before",
           to_text({"wire type ", static_cast<int>(needed)}));
}

SINTER_APART void reader::refuse_length(std::uint64_t n) const {
    refuse("message is cut short", to_text({left(), " bytes to its end"}), to_text({n, " bytes"}));
}
#endif

} // namespace sinter::protobuf
