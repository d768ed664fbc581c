// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/number_text.hpp>
#include <sinter/base/quoted_text.hpp>
#include <sinter/data/element.hpp>
#include <sinter/data/stages/counts.hpp>
#include <sinter/data/stages/elements.hpp>
#include <cstdio>
#include <iterator>

/// Elements as text, to look at.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {

template <class T>
inline constexpr bool is_pixels = false;
template <int H, int W, int C>
inline constexpr bool is_pixels<pixels<H, W, C>> = true;
template <class T>
inline constexpr bool is_extra = false;
template <class T>
inline constexpr bool is_extra<extra<T>> = true;

template <class T>
inline constexpr bool is_text = std::is_class_v<T> && std::is_convertible_v<const T&, std::string_view>;

inline constexpr std::size_t most_shown = 12;   ///< numbers of a list

template <class T>
SINTER_COLD void append_text(std::string& to, const T& v);

template <class List>
SINTER_COLD void append_list(std::string& to, const List& all) {
    const std::size_t n = std::size(all);
    to += '[';
    for (std::size_t i = 0; i < n && i < most_shown; ++i) {
        if (i > 0) to += ", ";
        append_text<std::remove_cvref_t<decltype(all[i])>>(to, all[i]);
    }
    if (n > most_shown) to += to_text({", ... ", n, " in all"});
    to += ']';
}
template <class T>
SINTER_COLD void append_fields(std::string& to, const T& v) {
    bool first = true;
    base::for_each_field(v, [&](std::string_view name, const auto& field) {
        if (!first) to += ", ";
        first = false;
        (to += name) += ": ";
        append_text(to, field);
    });
}

template <class T>
SINTER_COLD void append_text(std::string& to, const T& v) {
    if constexpr (std::is_same_v<T, bool>) to += v ? "true" : "false";
    else if constexpr (std::is_arithmetic_v<T>) to += base::number_text(v);
    else if constexpr (std::is_enum_v<T>) to += base::number_text(static_cast<std::underlying_type_t<T>>(v));
    else if constexpr (is_text<T>) to += base::quoted_text(v);
    else if constexpr (is_extra<T>) append_text(to, v.value);
    else if constexpr (is_pixels<T>) {
        to += to_text({T::height, " x ", T::width, " x ", T::channels, " "});
        append_list(to, v.bytes);
    } else if constexpr (element_parts::is_tuple<T>) {
        to += '(';
        std::apply([&](const auto&... e) {
            std::size_t i = 0;
            ((to += i++ ? ", " : "", append_text(to, e)), ...);
        }, v);
        to += ')';
    } else if constexpr (requires { std::size(v); v[0]; }) append_list(to, v);
    else if constexpr (requires { v.has_value(); *v; }) v.has_value() ? append_text(to, *v) : void(to += "none");
    else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
        to += '{';
        append_fields(to, v);
        to += '}';
    } else to += type_text<T>();
}

/// One line: fields of a struct with their names.
template <class T>
SINTER_COLD std::string line_of_element(const T& e) {
    std::string line;
    if constexpr (element_parts::is_struct<T> && !requires { std::size(e); }) append_fields(line, e);
    else append_text(line, e);
    return line += '\n';
}

} // namespace stage_parts

/// The first n elements of a pass, a line for each: `x: [0.5, 1, 2], label: 1`. Fields of structs have their names;
/// tuples are `(1, 2)`, texts are in quotes, and of a long list the first numbers are shown. Elements are computed by
/// the caller's thread. option_error for n < 0.
template <element_stage Stages>
SINTER_COLD std::string text_of_elements(const Stages& stages, std::int64_t n = 10, std::int64_t pass = 0) {
    stage_parts::at_least(0, n, "impossible number of elements", "text_of_elements", "0 or more");
    std::string text;
    element_range<Stages> all(stages, pass);
    for (; n > 0; --n) {
        const typename Stages::value_type* const e = all.next();
        if (!e) break;
        text += stage_parts::line_of_element(*e);
    }
    return text;
}

/// Writes text_of_elements(stages, n) to the standard output; also of batches, of which it shows the elements.
template <class Stages>
SINTER_COLD void print(const Stages& stages, std::int64_t n = 10, std::int64_t pass = 0) {
    if constexpr (requires { stages.stages(); }) {
        print(stages.stages(), n, pass);
    } else {
        static_assert(element_stage<Stages>, "print: needed is a pipeline of elements, or batches of them");
        if constexpr (element_stage<Stages>) std::fputs(text_of_elements(stages, n, pass).c_str(), stdout);
    }
}

} // namespace sinter::data
