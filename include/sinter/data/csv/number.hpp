// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/csv/reader.hpp>
#include <charconv>
#include <limits>

namespace sinter::inline SINTER_TARGET::data::csv {

/// What stands for "not known". The empty field always does.
inline bool is_missing(std::string_view text) {
    for (const std::string_view word : {"", "?", "NA", "N/A", "NaN", "nan", "null"})
        if (text == word) return true;
    return false;
}
/// Without spaces and tabs around it.
inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// The field as a number, spaces around it allowed; NaN where it is missing. Decimal, with a point, whatever the locale.
/// format_error, with file, line, column and the column's name, for anything else, infinities among it.
inline float number(const field& f, const std::string& file, const std::string& column_name) {
    const std::string_view text = trimmed(f.text);
    if (is_missing(text)) return std::numeric_limits<float>::quiet_NaN();
    const char* const first = text.data() + (text.front() == '+');   // from_chars takes no plus sign
    const char* const last = text.data() + text.size();
    double value = 0;   // and not float, for which a number of 1e-60 would be out of range
    const auto [end, fault] = std::from_chars(first, last, value);
    const bool sign_twice = text.front() == '+' && first != last && *first == '-';
    if (fault != std::errc{} || end != last || sign_twice || !(value >= -3.4028234e38 && value <= 3.4028234e38))
        throw format_error("not a number", place(file, f) + ", column " + io::printable(column_name), io::printable(f.text, 40),
                           "a number that a float can hold");
    return static_cast<float>(value);
}

} // namespace sinter::data::csv
