// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::inline SINTER_TARGET::onnx {

/// A message in protobuf's wire format (protobuf.dev/programming-guides/encoding), field by field.
/// ONNX files are one such message; the handful of kinds that they use is less than a library would
/// cost.
class message {
public:
    message& integer(int field, std::int64_t value) {
        varint(static_cast<std::uint64_t>(field) << 3);
        varint(static_cast<std::uint64_t>(value));   // negative numbers take ten bytes, as int64 does
        return *this;
    }
    message& real(int field, float value) {
        varint(static_cast<std::uint64_t>(field) << 3 | 5);
        const auto bits = std::bit_cast<std::uint32_t>(value);
        for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(bits >> 8 * i & 0xff);
        return *this;
    }
    message& text(int field, std::string_view value) {
        varint(static_cast<std::uint64_t>(field) << 3 | 2);
        varint(value.size());
        bytes_ += value;
        return *this;
    }
    message& nested(int field, const message& m) { return text(field, m.bytes_); }

    const std::string& bytes() const { return bytes_; }

private:
    void varint(std::uint64_t value) {
        for (; value > 127; value >>= 7) bytes_ += static_cast<char>(128 | (value & 127));
        bytes_ += static_cast<char>(value);
    }
    std::string bytes_;
};

} // namespace sinter::onnx
