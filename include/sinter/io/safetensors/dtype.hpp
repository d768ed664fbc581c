// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

/// The element types of safetensors, under the names that its header uses.
namespace sinter::inline SINTER_ORDINARY::safetensors {

/// In the reference's order (safetensors 0.8, `Dtype`), which is by rising alignment: its writer
/// lays tensors out by falling dtype, then by name, and ours follows so that both produce the same
/// bytes.
enum class dtype : std::uint8_t {
    boolean, f4, f6_e2m3, f6_e3m2, u8, i8, f8_e5m2, f8_e4m3, f8_e8m0, f8_e4m3fnuz, f8_e5m2fnuz,
    i16, u16, f16, bf16, i32, u32, f32, c64, f64, i64, u64
};

namespace detail {
struct dtype_row {
    std::string_view name;
    unsigned bits;
};
inline constexpr std::array<dtype_row, 22> dtype_table{{
    {"BOOL", 8}, {"F4", 4}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8}, {"I8", 8}, {"F8_E5M2", 8}, {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16}, {"U16", 16}, {"F16", 16}, {"BF16", 16},
    {"I32", 32}, {"U32", 32}, {"F32", 32}, {"C64", 64}, {"F64", 64}, {"I64", 64}, {"U64", 64},
}};
static_assert(dtype_table[static_cast<std::size_t>(dtype::u64)].name == "U64");
} // namespace detail

/// The name in a header: "F32".
constexpr std::string_view dtype_name(dtype type) { return detail::dtype_table[static_cast<std::size_t>(type)].name; }

/// Bits per element; types under 8 bits are packed, and a tensor of them must fill whole bytes.
constexpr unsigned dtype_bits(dtype type) { return detail::dtype_table[static_cast<std::size_t>(type)].bits; }

/// The type of that name, or nothing.
constexpr std::optional<dtype> dtype_from_name(std::string_view name) {
    for (std::size_t i = 0; i < detail::dtype_table.size(); ++i)
        if (detail::dtype_table[i].name == name) return static_cast<dtype>(i);
    return std::nullopt;
}

/// The dtype of a C++ arithmetic type: `dtype_of<float>` is f32.
template <class T>
    requires std::is_arithmetic_v<T> && (sizeof(T) <= 8)
inline constexpr dtype dtype_of = [] {
    if constexpr (std::is_same_v<T, bool>) return dtype::boolean;
    else if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? dtype::f32 : dtype::f64;
    else if constexpr (std::is_signed_v<T>)
        return sizeof(T) == 1 ? dtype::i8 : sizeof(T) == 2 ? dtype::i16 : sizeof(T) == 4 ? dtype::i32 : dtype::i64;
    else return sizeof(T) == 1 ? dtype::u8 : sizeof(T) == 2 ? dtype::u16 : sizeof(T) == 4 ? dtype::u32 : dtype::u64;
}();

} // namespace sinter::safetensors
