// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/data/element.hpp>
#include <bit>
#include <limits>

/// Elements as bytes, for files that keep them. An element is a number (an enum too), a text, an array, pixels, extra,
/// a std::vector of these, and a struct, a tuple or a pair of them, taken apart as data/element.hpp does it:
///
///     if constexpr (data::has_bytes<sample>) data::append_bytes(record, s);
///     if (!data::read_bytes(record, s)) ...   // these are not the bytes of a sample
///
/// Numbers are written lowest byte first, vectors and texts behind how many elements they have (8 bytes). What is
/// written is the same on all machines whose numbers have the same sizes.
namespace sinter::inline SINTER_ORDINARY::data {

namespace element_parts {

template <class N>
concept number_with_bytes = (std::is_arithmetic_v<N> && sizeof(N) <= 8) || std::is_enum_v<N>;   // no long double

template <class T>
inline constexpr bool grows = false;
template <class T>
inline constexpr bool grows<std::vector<T>> = true;
template <>
inline constexpr bool grows<std::string> = true;

/// The fewest bytes that a T has; below 0: it has none.
template <class T>
consteval std::int64_t least_bytes() {
    constexpr std::int64_t none = -1;
    [[maybe_unused]] constexpr auto times = [](std::size_t n, std::int64_t each) {
        return each < 0 ? each : static_cast<std::int64_t>(n) * each;
    };
    if constexpr (number_with_bytes<T>) {
        return sizeof(T);
    } else if constexpr (std::is_array_v<T>) {
        return times(std::extent_v<T>, least_bytes<std::remove_extent_t<T>>());
    } else if constexpr (is_array<T>) {
        return times(std::tuple_size_v<T>, least_bytes<typename T::value_type>());
    } else if constexpr (form_of_field<T>::form.pixels) {
        return sizeof(T);
    } else if constexpr (form_of_field<T>::form.kind == field_form::beside) {
        return least_bytes<decltype(T::value)>();
    } else if constexpr (grows<T>) {
        return least_bytes<typename T::value_type>() > 0 ? 8 : none;   // any number of nothing has a length at most
    } else if constexpr (is_struct<T> || is_tuple<T>) {
        return []<class... P>(part_list<P...>) {
            const bool all = ((least_bytes<typename P::type>() >= 0) && ...);
            return all ? (std::int64_t{0} + ... + least_bytes<typename P::type>()) : none;
        }(typename parts_of<T>::type{});
    } else {
        return none;
    }
}

template <number_with_bytes N>
void append_numbers(std::string& to, const N* from, std::size_t n) {
    if constexpr (std::endian::native == std::endian::little || sizeof(N) == 1) {
        to.append(reinterpret_cast<const char*>(from), n * sizeof(N));
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            char bytes[sizeof(N)];
            std::memcpy(bytes, from + i, sizeof(N));
            for (std::size_t b = sizeof(N); b-- > 0;) to += bytes[b];
        }
    }
}
/// The first bytes of `from`, which lose them. False: there are too few, or they are none of such numbers.
template <number_with_bytes N>
bool take_numbers(span<const std::byte>& from, N* to, std::size_t n) {
    if (n > from.size() / sizeof(N)) return false;
    if constexpr (std::is_same_v<N, bool>) {
        for (std::size_t i = 0; i < n; ++i) {
            if (from[i] > std::byte{1}) return false;
            to[i] = from[i] == std::byte{1};
        }
    } else if constexpr (std::endian::native == std::endian::little || sizeof(N) == 1) {
        if (n != 0) std::memcpy(to, from.data(), n * sizeof(N));
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            std::byte bytes[sizeof(N)];
            for (std::size_t b = 0; b < sizeof(N); ++b) bytes[sizeof(N) - 1 - b] = from[i * sizeof(N) + b];
            std::memcpy(to + i, bytes, sizeof(N));
        }
    }
    from = from.subspan(n * sizeof(N));
    return true;
}

template <class T>
void append(std::string& to, const T& v) {
    if constexpr (number_with_bytes<T>) {
        element_parts::append_numbers(to, &v, 1);
    } else if constexpr (form_of_field<T>::form.pixels) {
        element_parts::append(to, v.bytes);
    } else if constexpr (form_of_field<T>::form.kind == field_form::beside) {
        element_parts::append(to, v.value);
    } else if constexpr (is_struct<T> || is_tuple<T>) {
        for_each_element_field(v, [&](auto, const auto& field) { element_parts::append(to, field); });
    } else {
        if constexpr (grows<T>) element_parts::append(to, static_cast<std::uint64_t>(v.size()));
        using element = std::remove_cvref_t<decltype(*std::begin(v))>;
        if constexpr (number_with_bytes<element> && !std::is_same_v<T, std::vector<bool>>)
            element_parts::append_numbers(to, std::data(v), std::size(v));
        else
            for (const auto& e : v) element_parts::append<element>(to, e);
    }
}

template <class T>
bool take(span<const std::byte>& from, T& v) {
    if constexpr (number_with_bytes<T>) {
        return element_parts::take_numbers(from, &v, 1);
    } else if constexpr (form_of_field<T>::form.pixels) {
        return element_parts::take(from, v.bytes);
    } else if constexpr (form_of_field<T>::form.kind == field_form::beside) {
        return element_parts::take(from, v.value);
    } else if constexpr (is_struct<T> || is_tuple<T>) {
        bool whole = true;
        for_each_element_field(v, [&](auto, auto& field) { whole = whole && element_parts::take(from, field); });
        return whole;
    } else {
        if constexpr (grows<T>) {
            std::uint64_t n = 0;
            constexpr auto each = static_cast<std::uint64_t>(least_bytes<typename T::value_type>());
            if (!element_parts::take(from, n) || n > from.size() / each) return false;
            v.resize(static_cast<std::size_t>(n));
        }
        if constexpr (std::is_same_v<T, std::vector<bool>>) {
            for (std::size_t i = 0; i < v.size(); ++i) {
                bool one = false;
                if (!element_parts::take(from, one)) return false;
                v[i] = one;
            }
        } else if constexpr (number_with_bytes<std::remove_cvref_t<decltype(*std::begin(v))>>) {
            return element_parts::take_numbers(from, std::data(v), std::size(v));
        } else {
            for (auto& e : v)
                if (!element_parts::take(from, e)) return false;
        }
        return true;
    }
}

template <class T>
void append_layout(std::string& to) {
    if constexpr (number_with_bytes<T>) {
        to += std::is_same_v<T, bool> ? "bool" : std::is_enum_v<T> ? "enum" : std::is_floating_point_v<T> ? "float"
              : std::is_signed_v<T> ? "int" : "uint";
        if constexpr (!std::is_same_v<T, bool>) to += to_text({8 * sizeof(T)});
    } else if constexpr (std::is_array_v<T>) {
        to += to_text({std::extent_v<T>, " "});
        append_layout<std::remove_extent_t<T>>(to);
    } else if constexpr (is_array<T>) {
        to += to_text({std::tuple_size_v<T>, " "});
        append_layout<typename T::value_type>(to);
    } else if constexpr (form_of_field<T>::form.pixels) {
        to += to_text({"pixels ", T::height, " ", T::width, " ", T::channels});
    } else if constexpr (form_of_field<T>::form.kind == field_form::beside) {
        append_layout<decltype(T::value)>(to);
    } else if constexpr (std::is_same_v<T, std::string>) {
        to += "text";
    } else if constexpr (grows<T>) {
        to += "any ";
        append_layout<typename T::value_type>(to);
    } else {
        [&]<class... P>(part_list<P...>) {
            const char* before = "{";
            const auto add = [&]<class Part>(std::type_identity<Part>) {
                to += before;
                before = ", ";
                if (!Part::name.empty()) to += to_text({Part::name, ": "});
                append_layout<typename Part::type>(to);
            };
            (add(std::type_identity<P>{}), ...);
            to += sizeof...(P) == 0 ? "{}" : "}";
        }(typename parts_of<T>::type{});
    }
}

} // namespace element_parts

/// Whether elements of this type can be written as bytes.
template <class T>
inline constexpr bool has_bytes = element_parts::least_bytes<T>() >= 0;

/// The bytes of `e` behind those of `to`.
template <class T>
void append_bytes(std::string& to, const T& e) {
    static_assert(has_bytes<T>, "needed are elements that can be taken apart into numbers, texts, arrays and vectors");
    element_parts::append(to, e);
}

/// The element whose bytes these are, all of them. False: they are not those of a T; `e` then has any value. Bytes may
/// come from anywhere: no more memory is taken than they have room for elements.
template <class T>
[[nodiscard]] bool read_bytes(span<const std::byte> from, T& e) {
    static_assert(has_bytes<T>, "needed are elements that can be taken apart into numbers, texts, arrays and vectors");
    return element_parts::take(from, e) && from.empty();
}

/// What the bytes mean: "{x: 3 float32, rich: int32}". Elements of types with equal layouts have equal bytes.
template <class T>
std::string bytes_layout() {
    std::string text;
    element_parts::append_layout<T>(text);
    return text;
}

} // namespace sinter::data
