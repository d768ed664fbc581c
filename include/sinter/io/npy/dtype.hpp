// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/safetensors/dtype.hpp>

#include <optional>
#include <string>

/// The element types of NumPy's files, under the names that their headers use ("<f4"). They are a
/// part of safetensors', so that tensors from either kind of file are one type.
namespace sinter::inline SINTER_ORDINARY::npy {

using safetensors::dtype;
using safetensors::dtype_bits;
using safetensors::dtype_name;
using safetensors::dtype_of;

namespace detail {
struct descr_row {
    std::string_view name; ///< without the byte order
    dtype type;
};
inline constexpr std::array<descr_row, 13> descr_table{{
    {"b1", dtype::boolean}, {"u1", dtype::u8},  {"i1", dtype::i8},  {"u2", dtype::u16}, {"i2", dtype::i16},
    {"f2", dtype::f16},     {"u4", dtype::u32}, {"i4", dtype::i32}, {"f4", dtype::f32}, {"u8", dtype::u64},
    {"i8", dtype::i64},     {"f8", dtype::f64}, {"c8", dtype::c64},
}};
} // namespace detail

struct element {
    dtype type = dtype::f32;
    bool big_endian = false;
};

/// What "<f4", ">i8" or "|u1" means, or nothing for types that are no plain numbers (objects,
/// strings, records, dates) and those that have no counterpart here (long double, complex double).
constexpr std::optional<element> element_from_descr(std::string_view descr) {
    if (descr.size() < 2) return std::nullopt;
    const char order = descr.front();
    for (const detail::descr_row& row : detail::descr_table) {
        if (row.name != descr.substr(1)) continue;
        const bool one_byte = dtype_bits(row.type) == 8;
        if (order != '<' && order != '>' && !(order == '|' && one_byte)) return std::nullopt;
        return element{row.type, order == '>' && !one_byte};
    }
    return std::nullopt;
}

/// The name as NumPy writes it on a little-endian machine, or "" where NumPy has no such type
/// (bfloat16, 4-bit floats).
SINTER_APART std::string descr_of(dtype type);

#if SINTER_BODIES
SINTER_APART std::string descr_of(dtype type) {
    for (const detail::descr_row& row : detail::descr_table)
        if (row.type == type) return (dtype_bits(type) == 8 ? "|" : "<") + std::string(row.name);
    return {};
}
#endif

} // namespace sinter::npy
