// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/fields.hpp>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Values as bytes, for files that keep them: numbers and enumerations, texts, arrays, std::array, std::vector, tuples,
/// pairs, and structs of these, which are taken apart (base/fields.hpp).
///
///     std::string bytes;
///     base::append_value(bytes, v);
///     if (!base::read_value(bytes, v)) ...   // these are not the bytes of such a value
///
/// Numbers are written lowest byte first, vectors and texts behind how many parts they have (8 bytes); nothing else is.
/// What is written is the same on all machines whose numbers have the same sizes.
namespace sinter::base {

namespace value_parts {

template <class N>
concept number = (std::is_arithmetic_v<N> && sizeof(N) <= 8) || std::is_enum_v<N>;   // no long double

template <class T>
inline constexpr bool grows = false;
template <class T>
inline constexpr bool grows<std::vector<T>> = true;
template <>
inline constexpr bool grows<std::string> = true;
template <class T>
inline constexpr bool is_array = std::is_array_v<T>;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;
template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

template <class T>
using element_of = std::remove_cvref_t<decltype(*std::begin(std::declval<T&>()))>;

/// The fewest bytes that a T has; below 0: it has none.
template <class T>
consteval std::int64_t least_bytes() {
    constexpr std::int64_t none = -1;
    if constexpr (number<T>) {
        return sizeof(T);
    } else if constexpr (grows<T>) {
        return least_bytes<typename T::value_type>() > 0 ? 8 : none;   // any number of nothing has a length at most
    } else if constexpr (is_array<T>) {
        constexpr std::int64_t each = least_bytes<element_of<T>>();
        return each < 0 ? each : static_cast<std::int64_t>(sizeof(T) / sizeof(element_of<T>)) * each;
    } else if constexpr (is_tuple<T>) {
        return []<std::size_t... I>(std::index_sequence<I...>) {
            const std::int64_t of[] = {0, least_bytes<std::remove_cvref_t<std::tuple_element_t<I, T>>>()...};
            std::int64_t sum = 0;
            for (const std::int64_t n : of) sum = n < 0 || sum < 0 ? none : sum + n;
            return sum;
        }(std::make_index_sequence<std::tuple_size_v<T>>{});
    } else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
        return []<std::size_t... I>(std::index_sequence<I...>) {
            const std::int64_t of[] = {0, least_bytes<std::remove_cv_t<field_type<T, static_cast<int>(I)>>>()...};
            std::int64_t sum = 0;
            for (const std::int64_t n : of) sum = n < 0 || sum < 0 ? none : sum + n;
            return sum;
        }(std::make_index_sequence<static_cast<std::size_t>(field_count<T>)>{});
    } else {
        return none;
    }
}

template <number N>
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
template <number N>
bool take_numbers(std::string_view& from, N* to, std::size_t n) {
    if (n > from.size() / sizeof(N)) return false;
    if constexpr (std::is_same_v<N, bool>) {
        for (std::size_t i = 0; i < n; ++i) {
            if (from[i] != 0 && from[i] != 1) return false;
            to[i] = from[i] == 1;
        }
    } else if constexpr (std::endian::native == std::endian::little || sizeof(N) == 1) {
        if (n != 0) std::memcpy(to, from.data(), n * sizeof(N));
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            char bytes[sizeof(N)];
            for (std::size_t b = 0; b < sizeof(N); ++b) bytes[sizeof(N) - 1 - b] = from[i * sizeof(N) + b];
            std::memcpy(to + i, bytes, sizeof(N));
        }
    }
    from.remove_prefix(n * sizeof(N));
    return true;
}

/// f(part) for each part of a tuple or a struct.
template <class T, class F>
void each_part(T& v, F f) {
    if constexpr (is_tuple<std::remove_const_t<T>>) std::apply([&](auto&... part) { (f(part), ...); }, v);
    else with_fields(v, [&](auto&... part) { (f(part), ...); });
}
/// Whether the parts of a list lie one behind the other and are numbers.
template <class T>
inline constexpr bool holds_numbers = number<element_of<T>>;
template <>
inline constexpr bool holds_numbers<std::vector<bool>> = false;

template <class T>
void append(std::string& to, const T& v) {
    if constexpr (number<T>) {
        append_numbers(to, &v, 1);
    } else if constexpr (grows<T> || is_array<T>) {
        if constexpr (grows<T>) value_parts::append(to, static_cast<std::uint64_t>(v.size()));
        if constexpr (holds_numbers<T>) {
            append_numbers(to, std::data(v), std::size(v));
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
            for (const bool one : v) value_parts::append(to, one);
        } else {
            for (const auto& e : v) value_parts::append(to, e);
        }
    } else {
        value_parts::each_part(v, [&](const auto& part) { value_parts::append(to, part); });
    }
}

template <class T>
bool take(std::string_view& from, T& v) {
    if constexpr (number<T>) {
        return take_numbers(from, &v, 1);
    } else if constexpr (grows<T> || is_array<T>) {
        if constexpr (grows<T>) {
            std::uint64_t n = 0;
            constexpr auto each = static_cast<std::uint64_t>(least_bytes<typename T::value_type>());
            if (!value_parts::take(from, n) || n > from.size() / each) return false;
            v.resize(static_cast<std::size_t>(n));
        }
        if constexpr (holds_numbers<T>) {
            return take_numbers(from, std::data(v), std::size(v));
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
            for (std::size_t i = 0; i < v.size(); ++i) {
                bool one = false;
                if (!value_parts::take(from, one)) return false;
                v[i] = one;
            }
        } else {
            for (auto& e : v)
                if (!value_parts::take(from, e)) return false;
        }
        return true;
    } else {
        bool whole = true;
        value_parts::each_part(v, [&](auto& part) { whole = whole && value_parts::take(from, part); });
        return whole;
    }
}

} // namespace value_parts

/// Whether values of T can be written as bytes.
template <class T>
inline constexpr bool has_value_bytes = value_parts::least_bytes<std::remove_cv_t<T>>() >= 0;

/// The bytes of `v` behind those of `to`.
template <class T>
void append_value(std::string& to, const T& v) {
    static_assert(has_value_bytes<T>, "needed are values that come apart into numbers, texts, arrays and vectors");
    if constexpr (has_value_bytes<T>) value_parts::append(to, v);
}

/// The value whose bytes these are, all of them. False: they are not those of a T; `v` then has any value. Bytes may
/// come from anywhere: no more memory is taken than they have room for parts.
template <class T>
[[nodiscard]] bool read_value(std::string_view from, T& v) {
    static_assert(has_value_bytes<T>, "needed are values that come apart into numbers, texts, arrays and vectors");
    if constexpr (has_value_bytes<T>) return value_parts::take(from, v) && from.empty();
    else return false;
}

} // namespace sinter::base
