// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <cstdint>
#include <string>
#include <string_view>

/// UTF-8 (RFC 3629): where its characters end, whether bytes are it, and how one character becomes
/// it.
namespace sinter::base {

/// The bytes of the character that `text` begins with; 0 where it begins with none: overlong forms,
/// surrogates, what is beyond U+10FFFF or cut short.
constexpr std::size_t utf8_length(std::string_view text) {
    if (text.empty()) return 0;
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (text.size() < length) return 0;
    for (std::size_t k = 1; k < length; ++k) {
        const auto next = static_cast<unsigned char>(text[k]);
        // The second byte alone decides overlong forms (E0, F0), surrogates (ED) and the upper
        // end (F4).
        const unsigned char low = k != 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        const unsigned char high = k != 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (next < low || next > high) return 0;
    }
    return length;
}
/// Whether all of `text` is UTF-8.
SINTER_COLD constexpr bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// Appends the character `code` (at most U+10FFFF and no surrogate) to `out`.
constexpr void append_utf8(std::string& out, std::uint32_t code) {
    const auto continuation = [&](unsigned shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | code >> 6);
        continuation(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | code >> 12);
        continuation(6);
        continuation(0);
    } else {
        out += static_cast<char>(0xf0 | code >> 18);
        continuation(12);
        continuation(6);
        continuation(0);
    }
}

} // namespace sinter::base
