// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/utf8.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#if SINTER_BODIES
#include <charconv>
#endif

/// Values as JSON text (RFC 8259), for files that other programs read.
namespace sinter::json {

/// A string in quotes. What is not UTF-8 (a file name may be anything) becomes U+FFFD, for JSON has
/// no other text.
SINTER_APART std::string text(std::string_view s);
SINTER_APART std::string text(const char* s);

/// The shortest digits that read back as the same number; null for NaN and infinities, which JSON
/// lacks.
SINTER_APART std::string text(double value);
template <class I>
    requires std::is_integral_v<I>
std::string text(I value) {
    if constexpr (std::is_same_v<I, bool>) return value ? "true" : "false";
    else return std::to_string(value);
}

#if SINTER_BODIES
SINTER_APART std::string text(std::string_view s) {
    constexpr std::string_view hex = "0123456789abcdef", special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    std::string out = "\"";
    for (std::size_t i = 0; i < s.size();) {
        const auto byte = static_cast<unsigned char>(s[i]);
        std::size_t length = base::utf8_length(s.substr(i));
        if (length == 0) {
            out += "\xef\xbf\xbd";
            length = 1;
        } else if (const std::size_t which = special.find(s[i]); which != std::string_view::npos) {
            (out += '\\') += letters[which];
        } else if (byte < 0x20 || byte == 0x7f) {
            ((out += "\\u00") += hex[byte >> 4]) += hex[byte & 15];
        } else {
            out += s.substr(i, length);
        }
        i += length;
    }
    return out += '"';
}

SINTER_APART std::string text(const char* s) { return text(std::string_view(s)); }

SINTER_APART std::string text(double value) {
    if (!(value - value == 0)) return "null";
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    return std::string(digits, end);
}
#endif

} // namespace sinter::json
