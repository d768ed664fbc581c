// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#include <string_view>
#include <utility>

/// Text in a compile error, as part of the type that the error names. g++ prints a string in a type as a string; clang
/// and nvcc print a pack of characters.
namespace sinter::base {

#if defined(__GNUC__) && !defined(__clang__) && !defined(__EDG__)
template <std::size_t N>
struct printed_text {
    char c[N];
};
template <printed_text Text>
struct error_text {};

template <class Of, std::size_t... I>
consteval auto error_text_of(std::index_sequence<I...>) {
    return error_text<printed_text<sizeof...(I) + 1>{{Of::text[I]..., 0}}>{};
}
#else
template <char... C>
struct error_text {};

template <class Of, std::size_t... I>
consteval auto error_text_of(std::index_sequence<I...>) {
    return error_text<Of::text[I]...>{};
}
#endif

/// The type that shows `Of::text`, a constant std::string_view, or an array of characters with a size().
template <class Of>
using error_text_for = decltype(error_text_of<Of>(std::make_index_sequence<Of::text.size()>{}));

} // namespace sinter::base
