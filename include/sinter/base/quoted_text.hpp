// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/joined.hpp>
#include <sinter/base/utf8.hpp>

namespace sinter::base {

/// Text of strangers in quotes, fit for error messages: hostile text must not drive a terminal, and
/// every message is UTF-8. UTF-8 is kept; control characters (C0, DEL, C1) and bytes that are not
/// UTF-8 become \xHH; the quote and \ have a \ before them. What lies behind the first `longest`
/// bytes is left out.
SINTER_COLD inline std::string quoted_text(std::string_view s, std::size_t longest = 100, char quote = '"') {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out(1, quote);
    std::size_t i = 0;
    while (i < s.size()) {
        const auto byte = static_cast<unsigned char>(s[i]);
        std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        const std::string_view character = s.substr(i, length);
        const bool utf8 = is_utf8(character);
        if (!utf8) length = 1;
        if (i + length > longest) break;
        const bool c1 = utf8 && byte == 0xc2 && static_cast<unsigned char>(s[i + 1]) < 0xa0;
        if (!utf8 || byte < 0x20 || byte == 0x7f || c1) {
            for (const char c : s.substr(i, length))
                ((out += "\\x") += hex[static_cast<unsigned char>(c) >> 4]) += hex[static_cast<unsigned char>(c) & 15];
        } else {
            if (s[i] == quote || s[i] == '\\') out += '\\';
            out += character;
        }
        i += length;
    }
    out += quote;
    return i < s.size() ? joined({out, "... (", s.size(), " bytes)"}) : out;
}

} // namespace sinter::base
