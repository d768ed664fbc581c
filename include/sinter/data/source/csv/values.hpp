// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/source/csv/reader.hpp>
#include <cstdint>
#include <string>
#if SINTER_BODIES
#include <sinter/data/source/csv/number.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#endif

/// One field of a record as a number or a truth value.
namespace sinter::inline SINTER_ORDINARY::data::csv {

/// Where a value stands, for errors, and how it is written.
struct value_place {
    const std::string* file;
    const std::string* column;   ///< its name
    char decimal;                ///< the sign between a number's whole part and the rest: '.' or ','
};

/// Spaces and tabs around a value are allowed, and a plus sign. Each of these throws format_error, with file, line,
/// column and the column's name, where the field is something else, or missing.

/// A whole number between `least` and `most`.
SINTER_SELDOM std::int64_t read_integer(const field& f, const value_place& at, std::int64_t least, std::int64_t most);
/// A whole number from 0 to `most`.
SINTER_SELDOM std::uint64_t read_unsigned(const field& f, const value_place& at, std::uint64_t most);
/// The float nearest to a decimal number; infinity, NaN and what no float can hold are refused, and what is nearer to 0
/// than all of them is 0.
SINTER_SELDOM float read_float(const field& f, const value_place& at);
SINTER_SELDOM double read_double(const field& f, const value_place& at);
/// 0, 1, true, false, yes, no, in whatever case.
SINTER_SELDOM bool read_truth(const field& f, const value_place& at);
/// Throws format_error where the field is missing.
SINTER_SELDOM void need_value(const field& f, const value_place& at);

#if SINTER_BODIES
namespace detail {
[[noreturn]] SINTER_APART SINTER_COLD void refuse_value(const char* what, const field& f, const value_place& at,
                                                        std::string needed);
[[noreturn]] SINTER_APART void refuse_value(const char* what, const field& f, const value_place& at,
                                            std::string needed) {
    throw format_error(what, place(*at.file, f) + ", column " + io::printable(*at.column), io::printable(f.text, 40),
                       std::move(needed));
}

/// Without spaces and the plus sign; empty where that is all.
inline std::string_view digits_of(const field& f) {
    std::string_view text = trimmed(f.text);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    return text;
}

/// By std::from_chars, and nothing may follow the number.
template <class N>
bool read_whole(std::string_view text, N& to) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), to);
    return fault == std::errc{} && end == text.data() + text.size();
}

/// Whether a decimal number that std::from_chars calls out of range is too near to zero for any, and not too large.
inline bool is_too_small(std::string_view text) {
    double wide = 1;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), wide);
    if (end != text.data() + text.size()) return false;
    if (fault == std::errc{}) return -1 < wide && wide < 1;   // a float cannot hold it, a double can
    return is_nearly_zero(text);
}

template <class N>
N read_real(const field& f, const value_place& at, const char* needed) {
    std::string_view text = digits_of(f);
    std::string with_point;
    if (at.decimal != '.') {
        if (text.find('.') != text.npos)
            refuse_value("not a number", f, at, std::string(needed) + ", written with a decimal comma");
        with_point = text;
        std::replace(with_point.begin(), with_point.end(), at.decimal, '.');
        text = with_point;
    }
    N value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = end == text.data() + text.size() && !text.empty();
    if (whole && fault == std::errc::result_out_of_range && is_too_small(text)) return 0;
    constexpr N most = std::numeric_limits<N>::max();
    if (!whole || fault != std::errc{} || !(value >= -most && value <= most)) {
        need_value(f, at);
        refuse_value("not a number", f, at, needed);
    }
    return value;
}
} // namespace detail

SINTER_SELDOM_BODY std::int64_t read_integer(const field& f, const value_place& at, std::int64_t least,
                                             std::int64_t most) {
    std::int64_t value = 0;
    if (detail::read_whole(detail::digits_of(f), value) && least <= value && value <= most) return value;
    need_value(f, at);
    detail::refuse_value("not a whole number of this range", f, at,
                         std::to_string(least) + " to " + std::to_string(most));
}
SINTER_SELDOM_BODY std::uint64_t read_unsigned(const field& f, const value_place& at, std::uint64_t most) {
    std::uint64_t value = 0;
    if (detail::read_whole(detail::digits_of(f), value) && value <= most) return value;
    need_value(f, at);
    detail::refuse_value("not a whole number of this range", f, at, "0 to " + std::to_string(most));
}
SINTER_SELDOM_BODY float read_float(const field& f, const value_place& at) {
    return detail::read_real<float>(f, at, "a number that a float can hold");
}
SINTER_SELDOM_BODY double read_double(const field& f, const value_place& at) {
    return detail::read_real<double>(f, at, "a number that a double can hold");
}
SINTER_SELDOM_BODY bool read_truth(const field& f, const value_place& at) {
    std::string text(trimmed(f.text));
    for (char& c : text)
        if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (text == "1" || text == "true" || text == "yes") return true;
    if (text == "0" || text == "false" || text == "no") return false;
    need_value(f, at);
    detail::refuse_value("neither true nor false", f, at, "0, 1, true, false, yes or no");
}
SINTER_SELDOM_BODY void need_value(const field& f, const value_place& at) {
    if (f.missing)
        detail::refuse_value("a value is missing", f, at, "a value, or a field of std::optional, which may have none");
}
#endif

} // namespace sinter::data::csv
