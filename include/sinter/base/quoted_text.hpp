// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/joined.hpp>
#include <sinter/base/utf8.hpp>

namespace sinter::base {

/// The character of `s` at byte `i`: its bytes, or one byte that is not UTF-8; and whether it may be shown.
struct shown_character {
    std::size_t length;
    bool fit;
};
SINTER_COLD inline shown_character character_at(std::string_view s, std::size_t i) {
    const auto byte = static_cast<unsigned char>(s[i]);
    const std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (!is_utf8(s.substr(i, length))) return {1, false};
    const bool c1 = byte == 0xc2 && static_cast<unsigned char>(s[i + 1]) < 0xa0;
    return {length, byte >= 0x20 && byte != 0x7f && !c1};
}
SINTER_COLD inline void append_escaped(std::string& out, std::string_view bytes) {
    constexpr std::string_view hex = "0123456789abcdef";
    for (const char c : bytes)
        ((out += "\\x") += hex[static_cast<unsigned char>(c) >> 4]) += hex[static_cast<unsigned char>(c) & 15];
}

/// Text of strangers in quotes, fit for error messages: hostile text must not drive a terminal, and
/// every message is UTF-8. UTF-8 is kept; control characters (C0, DEL, C1) and bytes that are not
/// UTF-8 become \xHH. Within double quotes these and \ have a \ before them; between single ones,
/// for lines of files, in which apostrophes are common, nothing has. What lies behind the first
/// `longest` bytes is left out.
SINTER_COLD inline std::string quoted_text(std::string_view s, std::size_t longest = 100, char quote = '"') {
    std::string out(1, quote);
    std::size_t i = 0;
    while (i < s.size()) {
        const auto [length, fit] = character_at(s, i);
        if (i + length > longest) break;
        if (!fit) {
            append_escaped(out, s.substr(i, length));
        } else {
            if (quote == '"' && (s[i] == quote || s[i] == '\\')) out += '\\';
            out += s.substr(i, length);
        }
        i += length;
    }
    out += quote;
    return i < s.size() ? joined({out, "... (", s.size(), " bytes)"}) : out;
}

/// Whole sentences that others wrote, such as the messages of other processes: what quoted_text()
/// makes \xHH becomes so, without quotes. What is fit stays as it is, so that a message may pass
/// through here at every process that tells it.
SINTER_COLD inline std::string one_line(std::string_view s) {
    std::string out;
    for (std::size_t i = 0; i < s.size();) {
        const auto [length, fit] = character_at(s, i);
        if (fit) out += s.substr(i, length);
        else append_escaped(out, s.substr(i, length));
        i += length;
    }
    return out;
}

} // namespace sinter::base
