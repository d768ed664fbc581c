// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/utf8.hpp>

namespace sinter::base {

/// Appends a character, or a byte that is none, as it may be shown.
SINTER_SELDOM SINTER_COLD void append_shown(std::string& out, std::string_view character);
/// The bytes of the character at byte `i` of `s`, or the one byte where there is none.
SINTER_SELDOM SINTER_COLD std::string_view character_at(std::string_view s, std::size_t i);

/// Text from outside in quotes, fit for error messages: hostile text must not drive a terminal, and
/// every message is UTF-8. UTF-8 is kept; control characters (C0, DEL, C1) and bytes that are not
/// UTF-8 become \xHH. Within double quotes these and \ have a \ before them; between single ones,
/// for lines of files, in which apostrophes are common, nothing has. What lies after the first
/// `longest` bytes is left out.
SINTER_SELDOM SINTER_COLD std::string quoted_text(std::string_view s, std::size_t longest = 100, char quote = '"');

/// Whole sentences that others wrote, such as the messages of other processes: what quoted_text()
/// makes \xHH becomes so, without quotes. What is fit stays as it is, so that a message may pass
/// through here at every process that tells it.
SINTER_SELDOM SINTER_COLD std::string one_line(std::string_view s);

/// As one_line() makes it, but for ends of lines: words of the library's own may have several.
SINTER_SELDOM SINTER_COLD void append_lines(std::string& out, std::string_view s);

#if SINTER_BODIES
SINTER_SELDOM_BODY void append_shown(std::string& out, std::string_view character) {
    constexpr std::string_view hex = "0123456789abcdef";
    const auto lead = static_cast<unsigned char>(character[0]);
    const bool control = lead < 0x20 || lead == 0x7f ||
                         (lead == 0xc2 && character.size() == 2 && static_cast<unsigned char>(character[1]) < 0xa0);
    if (utf8_length(character) != 0 && !control) {
        out += character;
        return;
    }
    for (const char c : character)
        ((out += "\\x") += hex[static_cast<unsigned char>(c) >> 4]) += hex[static_cast<unsigned char>(c) & 15];
}

SINTER_SELDOM_BODY std::string_view character_at(std::string_view s, std::size_t i) {
    const std::size_t length = utf8_length(s.substr(i));
    return s.substr(i, length ? length : 1);
}

SINTER_SELDOM_BODY std::string quoted_text(std::string_view s, std::size_t longest, char quote) {
    std::string out(1, quote);
    std::size_t i = 0;
    while (i < s.size()) {
        const std::string_view c = character_at(s, i);
        if (i + c.size() > longest) break;
        if (quote == '"' && (s[i] == quote || s[i] == '\\')) out += '\\';
        append_shown(out, c);
        i += c.size();
    }
    out += quote;
    return i < s.size() ? to_text({out, "... (", s.size(), " bytes)"}) : out;
}

SINTER_SELDOM_BODY std::string one_line(std::string_view s) {
    std::string out;
    for (std::size_t i = 0; i < s.size();) {
        const std::string_view c = character_at(s, i);
        append_shown(out, c);
        i += c.size();
    }
    return out;
}

SINTER_SELDOM_BODY void append_lines(std::string& out, std::string_view s) {
    for (;;) {
        const std::size_t end = s.find('\n');
        out += one_line(s.substr(0, end));
        if (end == s.npos) return;
        out += '\n';
        s.remove_prefix(end + 1);
    }
}
#endif

} // namespace sinter::base
