// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/joined.hpp>

#include <string>
#include <string_view>

namespace sinter::inline SINTER_TARGET::io {

/// Text from a file, made fit for an error message: in quotes, control bytes as \xHH (a hostile
/// name must not drive a terminal), cut after `longest` bytes. Bytes from 0x80 on pass, so that
/// UTF-8 names stay readable.
SINTER_COLD inline std::string printable(std::string_view text, std::size_t longest = 120) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "'";
    for (const char c : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += "\\x";
            out += hex[byte >> 4];
            out += hex[byte & 15];
        } else {
            out += c;
        }
    }
    return text.size() > longest ? joined({out, "'... (", text.size(), " bytes)"}) : joined({out, "'"});
}

} // namespace sinter::io
