// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/source/csv/reader.hpp>
#include <charconv>
#include <limits>

namespace sinter::inline SINTER_TARGET::data::csv {

/// The field as a number, spaces around it allowed; NaN where it is missing. Decimal, with a point,
/// whatever the locale. A double, so that what is near a large number (times in seconds, prices in
/// cents) stays apart from it until a mean is taken off. format_error, with file, line, column and
/// the column's name, for anything else, infinities among it, and for numbers beyond a float's
/// range.
inline double number(const field& f, const std::string& file, const std::string& column_name) {
    const std::string_view text = trimmed(f.text);
    if (f.missing || text.empty()) return std::numeric_limits<double>::quiet_NaN();
    const char* const first = text.data() + (text.front() == '+');   // from_chars takes no plus sign
    const char* const last = text.data() + text.size();
    double value = 0;
    const auto [end, fault] = std::from_chars(first, last, value);
    const bool sign_twice = text.front() == '+' && first != last && *first == '-';
    if (fault != std::errc{} || end != last || sign_twice || !(value >= -3.4028234e38 && value <= 3.4028234e38))
        throw format_error("not a number", place(file, f) + ", column " + io::printable(column_name),
                           io::printable(f.text, 40), "a number that a float can hold");
    return value;
}

} // namespace sinter::data::csv
