// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

/// protobuf's wire format (protobuf.dev/programming-guides/encoding): what ONNX files, tf.train.Example and event files
/// are made of. The handful of kinds that they use is less than a library would cost.
namespace sinter::inline SINTER_ORDINARY::protobuf {

/// How the value of a field is written. 3 and 4 begin and end a group, which nobody writes any more.
enum class wire_type : std::uint8_t { varint = 0, fixed64 = 1, length = 2, group = 3, group_end = 4, fixed32 = 5 };

constexpr std::uint32_t tag_of(std::uint32_t field, wire_type type) {
    return field << 3 | static_cast<std::uint32_t>(type);
}

/// Appends a number: seven bits a byte, lowest first.
inline void append_varint(std::string& to, std::uint64_t value) {
    for (; value > 127; value >>= 7) to += static_cast<char>(128 | (value & 127));
    to += static_cast<char>(value);
}
/// How many bytes that is: 1 to 10.
constexpr std::size_t varint_bytes(std::uint64_t value) {
    return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}
/// Appends the bytes of a number, lowest first.
template <class Bits>
void append_fixed(std::string& to, Bits bits) {
    if constexpr (std::endian::native == std::endian::little) {
        to.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    } else {
        for (std::size_t i = 0; i < sizeof bits; ++i) to += static_cast<char>(bits >> 8 * i & 0xff);
    }
}

/// A message, field by field. Where the same field comes again its value is one more of a list.
class message {
public:
    /// int32, int64, uint32, uint64, bool, enum. A negative number takes ten bytes.
    message& integer(std::uint32_t field, std::int64_t value) {
        append_varint(bytes_, tag_of(field, wire_type::varint));
        append_varint(bytes_, static_cast<std::uint64_t>(value));
        return *this;
    }
    /// float
    message& real(std::uint32_t field, float value) {
        append_varint(bytes_, tag_of(field, wire_type::fixed32));
        append_fixed(bytes_, std::bit_cast<std::uint32_t>(value));
        return *this;
    }
    /// double
    message& real64(std::uint32_t field, double value) {
        append_varint(bytes_, tag_of(field, wire_type::fixed64));
        append_fixed(bytes_, std::bit_cast<std::uint64_t>(value));
        return *this;
    }
    /// string, bytes
    message& text(std::uint32_t field, std::string_view value) {
        begin(field, value.size());
        bytes_ += value;
        return *this;
    }
    message& nested(std::uint32_t field, const message& m) { return text(field, m.bytes_); }

    /// A list of floats or of integers in one field, as proto3 writes it: nothing where it is empty.
    message& packed(std::uint32_t field, span<const float> values) {
        if (values.empty()) return *this;
        begin(field, values.size() * sizeof(float));
        if constexpr (std::endian::native == std::endian::little)
            bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
        else
            for (const float v : values) append_fixed(bytes_, std::bit_cast<std::uint32_t>(v));
        return *this;
    }
    message& packed(std::uint32_t field, span<const std::int64_t> values) {
        if (values.empty()) return *this;
        std::size_t bytes = 0;
        for (const std::int64_t v : values) bytes += varint_bytes(static_cast<std::uint64_t>(v));
        begin(field, bytes);
        for (const std::int64_t v : values) append_varint(bytes_, static_cast<std::uint64_t>(v));
        return *this;
    }

    const std::string& bytes() const { return bytes_; }
    /// Empty again, with the memory that it has.
    void clear() { bytes_.clear(); }

private:
    std::string bytes_;

    void begin(std::uint32_t field, std::size_t bytes) {
        append_varint(bytes_, tag_of(field, wire_type::length));
        append_varint(bytes_, bytes);
    }
};

} // namespace sinter::protobuf
