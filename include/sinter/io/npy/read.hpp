// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/byte_buffer.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/npy/header.hpp>
#include <sinter/io/safetensors/elements.hpp>

#include <bit>

namespace sinter::inline SINTER_ORDINARY::npy {

static_assert(std::endian::native == std::endian::little, "elements are turned into little-endian ones");

/// An array: product(shape) elements, last extent fastest, little-endian, whatever order the file
/// had them in.
struct array {
    dtype type = dtype::f32;
    std::vector<std::int64_t> shape;
    io::byte_buffer bytes;

    /// The elements as float, double or integers: see safetensors::converted_elements().
    template <class T>
    std::vector<T> as() const {
        return safetensors::converted_elements<T>({"", type, shape, bytes.span()});
    }
};

/// Headers of plain numbers take a few hundred bytes; only records take more, and those are
/// refused.
inline constexpr std::size_t largest_header = 65'535;

/// Reads one array of format 1.0, 2.0 or 3.0 from `in`, to its end. Throws format_error on anything
/// else, on elements that are no plain numbers, on extents whose product overflows or exceeds what
/// the input can hold, and on bytes that are missing or left over.
SINTER_APART array parse(io::byte_source& in);

/// Reads the array in the file at `path`; throws io_error where it cannot be read, and as parse()
/// does.
SINTER_APART array read(const std::string& path);

#if SINTER_BODIES
namespace detail {
inline void reverse_each_element(span<std::byte> bytes, std::size_t element_bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += element_bytes)
        std::reverse(bytes.data() + i, bytes.data() + i + element_bytes);
}

/// From first extent fastest to last extent fastest.
inline io::byte_buffer from_fortran_order(span<const std::byte> from, span<const std::int64_t> shape,
                                          std::size_t element_bytes, const std::string& file) {
    io::byte_buffer to(from.size(), file);
    std::vector<std::size_t> at(shape.size()), stride(shape.size());   // of the place to be filled next, in `from`
    std::size_t step = element_bytes;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        stride[axis] = step;
        step *= static_cast<std::size_t>(shape[axis]);
    }
    std::size_t offset = 0;
    for (std::size_t done = 0; done < from.size(); done += element_bytes) {
        std::memcpy(to.span().data() + done, from.data() + offset, element_bytes);
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            offset += stride[axis];
            if (++at[axis] < static_cast<std::size_t>(shape[axis])) break;
            offset -= at[axis] * stride[axis];
            at[axis] = 0;
        }
    }
    return to;
}

inline void fill(io::byte_source& in, span<std::byte> to, std::uint64_t at, const char* part) {
    if (const std::size_t n = in.read_up_to(to); n != to.size())
        throw format_error(std::string("NumPy file is cut short in its ") + part, in.name(),
                           std::to_string(at + n) + " bytes in all", std::to_string(at + to.size()) + " or more");
}
} // namespace detail

SINTER_APART array parse(io::byte_source& in) {
    constexpr std::size_t magic_bytes = 8;
    std::array<std::byte, magic_bytes + 4> start;
    detail::fill(in, {start.data(), magic_bytes + 2}, 0, "first bytes");
    constexpr std::string_view magic = "\x93NUMPY";
    const int major = std::to_integer<int>(start[6]), minor = std::to_integer<int>(start[7]);
    if (std::memcmp(start.data(), magic.data(), magic.size()) != 0)
        throw format_error("not a NumPy file", in.name() + ", bytes 0 to 5",
                           io::printable({reinterpret_cast<const char*>(start.data()), magic.size()}), "\\x93NUMPY");
    if (major < 1 || major > 3 || minor != 0)
        throw format_error("unknown format", in.name() + ", bytes 6 and 7",
                           std::to_string(major) + '.' + std::to_string(minor), "1.0, 2.0 or 3.0");
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    detail::fill(in, {start.data() + magic_bytes + 2, length_bytes - 2}, magic_bytes + 2, "first bytes");
    std::size_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;)
        length = length << 8 | std::to_integer<std::size_t>(start[magic_bytes + i]);
    if (length > largest_header)
        throw format_error("header is too long", in.name() + ", from byte 8", std::to_string(length) + " bytes",
                           "at most " + std::to_string(largest_header));
    std::string text(length, '\0');
    detail::fill(in, as_writable_bytes(text), magic_bytes + length_bytes, "header");
    header head = read_header(text, in.name(), magic_bytes + length_bytes);

    const std::size_t element_bytes = dtype_bits(head.type) / 8;
    const auto elements = io::checked_product(head.shape);
    const auto total = elements ? io::checked_multiply(*elements, element_bytes) : std::nullopt;
    const std::string promised = descr_of(head.type) + ' ' + io::extents_text(head.shape);
    if (!total) throw format_error("extents overflow", in.name(), promised, "less than 2^64 bytes in all");
    // Before any allocation, so that a few bytes cannot ask for terabytes.
    if (*total > in.at_most_left())
        throw format_error("NumPy file is cut short in its elements", in.name(),
                           "at most " + std::to_string(in.at_most_left()) + " bytes",
                           std::to_string(*total) + " for " + promised);
    io::byte_buffer bytes(*total, in.name());
    detail::fill(in, bytes.span(), magic_bytes + length_bytes + length, "elements");
    std::byte beyond;
    if (in.read_up_to({&beyond, 1}) != 0)
        throw format_error("bytes follow the last element", in.name(), "more than " + std::to_string(*total),
                           std::to_string(*total) + " for " + promised);
    if (head.big_endian) {   // a complex number is two floats
        const std::size_t turned = head.type == dtype::c64 ? 4 : element_bytes;
        detail::reverse_each_element(bytes.span(), turned);
    }
    if (head.fortran_order && head.shape.size() > 1)
        bytes = detail::from_fortran_order(bytes.span(), head.shape, element_bytes, in.name());
    return {head.type, std::move(head.shape), std::move(bytes)};
}

SINTER_APART array read(const std::string& path) {
    io::input_file in(path);
    return parse(in);
}
#endif

} // namespace sinter::npy
