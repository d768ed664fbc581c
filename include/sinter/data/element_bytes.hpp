// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/value_bytes.hpp>
#include <sinter/data/element.hpp>
#include <string>
#include <string_view>

/// Elements as bytes (base/value_bytes.hpp), for files that keep them, and what these bytes mean:
///
///     if constexpr (data::has_bytes<sample>) data::append_bytes(record, s);
///     if (!data::read_bytes(record, s)) ...   // these are not the bytes of a sample
///
/// Numbers are written lowest byte first, vectors and texts behind how many elements they have (8 bytes). What is
/// written is the same on all machines whose numbers have the same sizes.
namespace sinter::inline SINTER_ORDINARY::data {

namespace element_parts {

template <class T>
void append_layout(std::string& to) {
    if constexpr (base::value_parts::number<T>) {
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
    } else if constexpr (base::value_parts::grows<T>) {
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
inline constexpr bool has_bytes = base::has_value_bytes<T>;

/// The bytes of `e` behind those of `to`.
template <class T>
void append_bytes(std::string& to, const T& e) {
    base::append_value(to, e);
}

/// The element whose bytes these are, all of them. False: they are not those of a T; `e` then has any value. Bytes may
/// come from anywhere: no more memory is taken than they have room for elements.
template <class T>
[[nodiscard]] bool read_bytes(span<const std::byte> from, T& e) {
    return base::read_value(std::string_view(reinterpret_cast<const char*>(from.data()), from.size()), e);
}

/// What the bytes mean: "{x: 3 float32, rich: int32}". Elements of types with equal layouts have equal bytes.
template <class T>
std::string bytes_layout() {
    std::string text;
    element_parts::append_layout<T>(text);
    return text;
}

} // namespace sinter::data
