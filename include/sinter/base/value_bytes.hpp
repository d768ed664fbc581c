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

/// Values as bytes: numbers, enumerations, strings, arrays, std::array, std::vector, tuples, pairs, and structs of these,
/// which are taken apart (base/fields.hpp). Numbers take as many bytes as their type, the lowest first; strings and
/// vectors begin with their length in eight. There is nothing between the parts of a value.
namespace sinter::base {

namespace value_bytes_parts {

template <class T>
inline constexpr bool is_vector = false;
template <class T, class A>
inline constexpr bool is_vector<std::vector<T, A>> = true;
template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_array = std::is_array_v<T>;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

template <class T>
consteval bool comes_apart();
template <class T, std::size_t... I>
consteval bool parts_come_apart(std::index_sequence<I...>) {
    return (comes_apart<std::remove_cvref_t<std::tuple_element_t<I, T>>>() && ...);
}
template <class T, std::size_t... I>
consteval bool fields_come_apart(std::index_sequence<I...>) {
    return (comes_apart<std::remove_cv_t<field_type<T, static_cast<int>(I)>>>() && ...);
}
template <class T>
consteval bool comes_apart() {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) return true;
    else if constexpr (std::is_same_v<T, std::string>) return true;
    else if constexpr (is_vector<T>)
        return !std::is_same_v<T, std::vector<bool>> && comes_apart<typename T::value_type>();
    else if constexpr (std::is_array_v<T>) return comes_apart<std::remove_cv_t<std::remove_extent_t<T>>>();
    else if constexpr (is_array<T>) return comes_apart<typename T::value_type>();
    else if constexpr (is_tuple<T>) return parts_come_apart<T>(std::make_index_sequence<std::tuple_size_v<T>>{});
    else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>)
        return fields_come_apart<T>(std::make_index_sequence<static_cast<std::size_t>(field_count<T>)>{});
    else return false;
}

/// f(part) for each part of a value that is of no fixed number of bytes.
template <class T, class F>
void each_part(T& x, F f) {
    using plain = std::remove_const_t<T>;
    if constexpr (is_array<plain>) {
        for (auto& part : x) f(part);
    } else if constexpr (is_tuple<plain>) {
        std::apply([&](auto&... part) { (f(part), ...); }, x);
    } else {
        with_fields(x, [&](auto&... part) { (f(part), ...); });
    }
}

} // namespace value_bytes_parts

/// Whether values of T can be had as bytes.
template <class T>
inline constexpr bool has_value_bytes = value_bytes_parts::comes_apart<std::remove_cv_t<T>>();

/// Appends the bytes of a value.
template <class T>
void add_value_bytes(std::string& to, const T& x) {
    static_assert(has_value_bytes<T>, "a value of this type does not come apart into numbers and strings");
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        char bytes[sizeof(T)];
        std::memcpy(bytes, &x, sizeof(T));
        if constexpr (std::endian::native == std::endian::big)
            for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
        to.append(bytes, sizeof(T));
    } else if constexpr (std::is_same_v<T, std::string>) {
        add_value_bytes(to, std::uint64_t{x.size()});
        to += x;
    } else if constexpr (value_bytes_parts::is_vector<T>) {
        add_value_bytes(to, std::uint64_t{x.size()});
        for (const auto& part : x) add_value_bytes(to, part);
    } else {
        value_bytes_parts::each_part(x, [&](const auto& part) { add_value_bytes(to, part); });
    }
}

/// Takes the bytes of a value from the front of `from`. False, with a value of which a part may be read, where they end
/// early or a bool is neither 0 nor 1. Memory is taken as bytes are read, whatever a length claims.
template <class T>
[[nodiscard]] bool take_value_bytes(std::string_view& from, T& x) {
    static_assert(has_value_bytes<T>, "a value of this type does not come apart into numbers and strings");
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        if (from.size() < sizeof(T)) return false;
        char bytes[sizeof(T)];
        std::memcpy(bytes, from.data(), sizeof(T));
        if constexpr (std::endian::native == std::endian::big)
            for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
        if constexpr (std::is_same_v<T, bool>) {
            if (bytes[0] != 0 && bytes[0] != 1) return false;
            x = bytes[0] == 1;
        } else {
            std::memcpy(&x, bytes, sizeof(T));
        }
        from.remove_prefix(sizeof(T));
        return true;
    } else if constexpr (std::is_same_v<T, std::string>) {
        std::uint64_t n = 0;
        if (!take_value_bytes(from, n) || n > from.size()) return false;
        x.assign(from.substr(0, n));
        from.remove_prefix(n);
        return true;
    } else if constexpr (value_bytes_parts::is_vector<T>) {
        std::uint64_t n = 0;
        x.clear();
        if (!take_value_bytes(from, n)) return false;
        for (; n > 0; --n) {
            const std::size_t before = from.size();
            if (!take_value_bytes(from, x.emplace_back())) return false;
            if (from.size() == before && n > before) return false;   // values without bytes: more than could be meant
        }
        return true;
    } else {
        bool whole = true;
        value_bytes_parts::each_part(x, [&](auto& part) { whole = whole && take_value_bytes(from, part); });
        return whole;
    }
}

} // namespace sinter::base
