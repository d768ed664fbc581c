// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <cstdint>
#include <string_view>

namespace sinter::base {

/// Whether all of `text` is a number in decimal digits that 64 bits hold; n is it then, and unchanged else. Without
/// <charconv>, which would be in every program and costs a tenth of what an empty one takes to compile.
SINTER_COLD inline bool read_whole_number(std::string_view text, std::uint64_t& n) {
    std::uint64_t value = 0;
    for (const char c : text) {
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (c < '0' || c > '9' || value > (UINT64_MAX - digit) / 10) return false;
        value = 10 * value + digit;
    }
    if (text.empty()) return false;
    n = value;
    return true;
}

/// Whether `text` begins with a decimal number, which may have a minus, that 64 bits hold: n is it then, and `text`
/// what follows its last digit. Both are unchanged else.
SINTER_COLD inline bool take_number(std::string_view& text, std::int64_t& n) {
    const bool minus = !text.empty() && text.front() == '-';
    const std::size_t first = minus ? 1 : 0;
    std::size_t end = first;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    std::uint64_t size = 0;
    if (!read_whole_number(text.substr(first, end - first), size)) return false;
    if (size > (minus ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(INT64_MAX))) return false;
    n = static_cast<std::int64_t>(minus ? 0 - size : size);
    text.remove_prefix(end);
    return true;
}

} // namespace sinter::base
