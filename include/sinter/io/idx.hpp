// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/callback.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/extents.hpp>
#include <sinter/io/file.hpp>

#include <vector>
#if SINTER_BODIES
#include <sinter/io/gzip.hpp>
#include <algorithm>
#include <bit>
#endif

/// IDX, the format of the MNIST family: two zero bytes, an element type, the number of extents, the
/// extents as big-endian 32-bit integers, then the elements, big-endian too
/// (yann.lecun.com/exdb/mnist). Plain or gzip.
namespace sinter::inline SINTER_ORDINARY::io {

/// The type byte of an IDX file.
enum class idx_type : std::uint8_t { u8 = 0x08, i8 = 0x09, i16 = 0x0b, i32 = 0x0c, f32 = 0x0d, f64 = 0x0e };

/// Bytes per element, or 0 for a byte that names no type.
constexpr std::size_t idx_type_bytes(idx_type type) {
    switch (type) {
    case idx_type::u8:
    case idx_type::i8: return 1;
    case idx_type::i16: return 2;
    case idx_type::i32:
    case idx_type::f32: return 4;
    case idx_type::f64: return 8;
    }
    return 0;
}

/// What an IDX file holds. `bytes` has product(extents) * idx_type_bytes(type) bytes, last extent
/// fastest, each element in this machine's byte order.
struct idx_array {
    idx_type type = idx_type::u8;
    std::vector<std::int64_t> extents;
    std::vector<std::byte> bytes;
};

/// Reads an IDX array from `source`, plain or gzip. Throws format_error on a wrong magic number, an
/// unknown type, no extents, extents whose product overflows or exceeds what the input can hold,
/// missing bytes and trailing bytes. `accept` is given what the header says (no bytes yet) before
/// memory is taken for the elements, and throws where that is of no use.
SINTER_SELDOM SINTER_COLD idx_array parse_idx(byte_source& source,
                                              const base::callback<void(const idx_array&)>& accept = {});

/// Reads the IDX file at `path`, plain or gzip; throws io_error where it cannot be read, and as
/// parse_idx does.
SINTER_SELDOM SINTER_COLD idx_array read_idx(const std::string& path,
                                             const base::callback<void(const idx_array&)>& accept = {});

#if SINTER_BODIES
namespace detail {
template <class = void>
SINTER_COLD inline void read_idx_header(byte_source& in, span<std::byte> to, std::uint64_t at, const char* part) {
    if (const std::size_t n = in.read_up_to(to); n != to.size())
        throw format_error(to_text({"IDX file is cut short in its ", part}), in.name(),
                           to_text({at + n, " bytes in all"}), to_text({at + to.size(), " or more"}));
}

inline void reverse_each_element(span<std::byte> bytes, std::size_t element_bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += element_bytes)
        std::reverse(bytes.data() + i, bytes.data() + i + element_bytes);
}
} // namespace detail

SINTER_SELDOM_BODY idx_array parse_idx(byte_source& source, const base::callback<void(const idx_array&)>& accept) {
    gzip_source in(source);
    std::array<std::byte, 4> magic;
    detail::read_idx_header(in, magic, 0, "magic number");
    idx_array out;
    out.type = static_cast<idx_type>(magic[2]);
    const std::size_t element_bytes = idx_type_bytes(out.type);
    const std::size_t rank = std::to_integer<std::size_t>(magic[3]);
    if (magic[0] != std::byte{0} || magic[1] != std::byte{0} || element_bytes == 0 || rank == 0) {
        std::string got;
        for (const std::byte b : magic) got += to_text({got.empty() ? "" : " ", std::to_integer<int>(b)});
        throw format_error("not an IDX file", to_text({in.name(), ", bytes 0 to 3"}), got,
                           "0 0, an element type (8, 9, 11, 12, 13 or 14), a number of extents from 1 on");
    }

    const std::size_t header_bytes = magic.size() + 4 * rank;
    std::vector<std::byte> header(4 * rank);
    detail::read_idx_header(in, header, magic.size(), "extents");
    for (std::size_t i = 0; i < header.size(); i += 4) {
        std::int64_t extent = 0;
        for (std::size_t k = 0; k < 4; ++k) extent = extent << 8 | std::to_integer<std::int64_t>(header[i + k]);
        out.extents.push_back(extent);
    }

    const std::string body = to_text({in.name(), ", from byte ", header_bytes});
    const auto elements = checked_product(out.extents);
    const auto total = elements ? checked_multiply(*elements, element_bytes) : std::nullopt;
    const std::string promised = to_text({extents_text(out.extents), " of ", element_bytes, " bytes each"});
    if (!total) throw format_error("extents overflow", in.name(), promised, "less than 2^64 bytes in all");
    const std::string needed = to_text({*total, " bytes for extents ", promised});
    // Before any allocation, so that a few bytes cannot ask for terabytes.
    if (*total > in.at_most_left())
        throw format_error("IDX file is cut short in its elements", body,
                           to_text({"at most ", in.at_most_left(), " bytes"}), needed);
    if (accept) accept(out);
    try {
        out.bytes.reserve(*total);   // of which the system gives what is written to
    } catch (const std::exception&) { // bad_alloc, or length_error where it is beyond any vector's size
        throw io_error("not enough memory", body, {}, to_text({*total, " bytes"}));
    }
    constexpr std::size_t at_once = std::size_t{1} << 20;
    for (std::size_t n = 0; n < *total;) {
        const std::size_t more = std::min<std::uint64_t>(at_once, *total - n);
        out.bytes.resize(n + more);
        const std::size_t got = in.read_up_to(span<std::byte>(out.bytes).subspan(n));
        n += got;
        if (got != more)
            throw format_error("IDX file is cut short in its elements", body, to_text({n, " bytes"}), needed);
    }
    std::byte beyond;
    if (in.read_up_to({&beyond, 1}) != 0)
        throw format_error("bytes follow the last element", in.name(), to_text({"more than ", *total}), needed);

    if (element_bytes > 1 && std::endian::native == std::endian::little)
        detail::reverse_each_element(out.bytes, element_bytes);
    return out;
}

SINTER_SELDOM_BODY idx_array read_idx(const std::string& path, const base::callback<void(const idx_array&)>& accept) {
    input_file file(path);
    return parse_idx(file, accept);
}
#endif

} // namespace sinter::io
