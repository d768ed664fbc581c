// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/source/csv/reader.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

namespace sinter::inline SINTER_ORDINARY::data::csv {

/// The field as a number, spaces around it allowed; NaN where it is missing. Decimal, with a point,
/// whatever the locale. A double, so that what is near a large number (times in seconds, prices in
/// cents) stays apart from it until a mean is taken off. format_error, with file, line, column and
/// the column's name, for anything else, infinities among it, and for numbers beyond a float's
/// range. What is too small for a double is 0.
SINTER_APART double number(const field& f, const std::string& file, const std::string& column_name);

/// A record's field; format_error where a record of a `ragged` file is too short to have it.
SINTER_APART const field& field_of(span<const field> record, std::size_t column, const std::string& file);

#if SINTER_BODIES
namespace detail {
/// Of a number beyond what doubles hold: is it beyond the small end? By where its first digit is.
inline bool is_nearly_zero(std::string_view text) {
    const std::size_t e = std::min(text.find_first_of("eE"), text.size()), point = std::min(text.find('.'), e),
                      first = text.find_first_of("123456789");
    std::int64_t exponent = 0;
    if (e < text.size()) {
        const std::string_view digits = text.substr(e + 1 + (text.substr(e + 1, 1) == "+"));
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
        if (read.ec != std::errc{}) return digits.starts_with('-');
    }
    return exponent < static_cast<std::int64_t>(first) - static_cast<std::int64_t>(point);   // their sum may overflow
}
} // namespace detail

SINTER_APART double number(const field& f, const std::string& file, const std::string& column_name) {
    const std::string_view text = trimmed(f.text);
    if (f.missing || text.empty()) return std::numeric_limits<double>::quiet_NaN();
    const char* const first = text.data() + (text.front() == '+');   // from_chars takes no plus sign
    const char* const last = text.data() + text.size();
    double value = 0;
    auto [end, fault] = std::from_chars(first, last, value);
    if (const std::string_view digits(first, static_cast<std::size_t>(last - first));
        fault == std::errc::result_out_of_range && detail::is_nearly_zero(digits))
        fault = {}, value = 0;
    const bool sign_twice = text.front() == '+' && first != last && *first == '-';
    if (fault != std::errc{} || end != last || sign_twice || !(value >= -3.4028234e38 && value <= 3.4028234e38))
        throw format_error("not a number", place(file, f) + ", column " + io::printable(column_name),
                           io::printable(f.text, 40), "a number that a float can hold");
    return value;
}

SINTER_APART const field& field_of(span<const field> record, std::size_t column, const std::string& file) {
    if (column < record.size()) return record[column];
    throw format_error("a record has too few fields", record.empty() ? file : place(file, record[0]),
                       std::to_string(record.size()), std::to_string(column + 1) + " or more");
}
#endif

} // namespace sinter::data::csv
