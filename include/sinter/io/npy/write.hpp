// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/npy/header.hpp>

#include <bit>

namespace sinter::inline SINTER_ORDINARY::npy {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie");

/// The bytes of an array of these extents, for errors that name `file`. Throws format_error where
/// they overflow, or where NumPy has no such type.
SINTER_APART std::uint64_t bytes_of(dtype type, span<const std::int64_t> shape, const std::string& file);

/// What stands before the elements: format 1.0, C order, padded with spaces so that they begin at a
/// multiple of 64. The same bytes as NumPy 2 writes, which leaves room for the first extent to
/// grow.
SINTER_APART std::string encode_header(dtype type, span<const std::int64_t> shape);

/// Writes an array, product(shape) elements at `data` with the last extent fastest: whole or not at
/// all (io::atomic_write). Throws io_error where the file cannot be written, format_error as
/// bytes_of() does.
SINTER_APART void write(const std::string& path, dtype type, const std::vector<std::int64_t>& shape, const void* data);

#if SINTER_BODIES
SINTER_APART std::uint64_t bytes_of(dtype type, span<const std::int64_t> shape, const std::string& file) {
    if (descr_of(type).empty())
        throw format_error("NumPy has no such type", file, std::string(dtype_name(type)), "another, or safetensors");
    const auto elements = io::checked_product(shape);
    const auto bytes = elements ? io::checked_multiply(*elements, dtype_bits(type) / 8) : std::nullopt;
    if (!bytes || shape.size() > most_axes)
        throw format_error("array cannot have these extents", file, io::extents_text(shape),
                           "at most " + std::to_string(most_axes) + " of them, fewer than 2^64 bytes in all");
    return *bytes;
}

SINTER_APART std::string encode_header(dtype type, span<const std::int64_t> shape) {
    std::string text = "{'descr': '" + descr_of(type) + "', 'fortran_order': False, 'shape': (";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i != 0) text += ", ";
        text += std::to_string(shape[i]);
    }
    text += shape.size() == 1 ? ",), }" : "), }";
    constexpr std::size_t longest_extent = 21, before = 10;
    if (!shape.empty()) text.append(longest_extent - std::to_string(shape[0]).size(), ' ');
    text.append(64 - (before + text.size() + 1) % 64, ' ');   // never none, as in NumPy
    text += '\n';
    std::string out = "\x93NUMPY";
    out += '\1';
    out += '\0';
    out += static_cast<char>(text.size() & 0xff);
    out += static_cast<char>(text.size() >> 8);
    return out + text;
}

SINTER_APART void write(const std::string& path, dtype type, const std::vector<std::int64_t>& shape, const void* data) {
    const std::uint64_t bytes = bytes_of(type, shape, path);
    const std::string head = encode_header(type, shape);
    io::atomic_write(path, [&](io::output_file& out) {
        out.write(head);
        out.write({static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)});
    });
}
#endif

} // namespace sinter::npy
