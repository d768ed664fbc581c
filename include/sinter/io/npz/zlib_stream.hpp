// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/byte_buffer.hpp>

#include <vector>
#if SINTER_BODIES
#include <algorithm>
#include <limits>
#include <zlib.h>
#endif

/// Deflate without a frame of its own (RFC 1951), as zip archives hold it; and zip's checksum.
namespace sinter::inline SINTER_ORDINARY::npz::detail {

SINTER_APART std::uint32_t crc_of(span<const std::byte> bytes, std::uint32_t crc = 0);

/// The `size` bytes that `from` was made of. Throws format_error where it is damaged or makes more
/// or fewer.
SINTER_APART io::byte_buffer inflated(span<const std::byte> from, std::uint64_t size, const std::string& where);

#if SINTER_BODIES
inline constexpr int raw_window = -15;

   // zlib: the largest window, neither header nor checksum
inline constexpr std::size_t most_at_once = std::numeric_limits<uInt>::max();

SINTER_APART std::uint32_t crc_of(span<const std::byte> bytes, std::uint32_t crc) {
    while (!bytes.empty()) {
        const std::size_t n = std::min(bytes.size(), most_at_once);
        crc = static_cast<std::uint32_t>(
            ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(n)));
        bytes = bytes.subspan(n);
    }
    return crc;
}

/// zlib's next_in is not const in its older headers, though it never writes there.
inline Bytef* bytes_for_zlib(const std::byte* from) { return reinterpret_cast<Bytef*>(const_cast<std::byte*>(from)); }

SINTER_APART io::byte_buffer inflated(span<const std::byte> from, std::uint64_t size, const std::string& where) {
    // Deflate yields at most 258 bytes for 2 bits (zlib's technical notes: 1032 to 1), so that a
    // short file cannot ask for a large buffer.
    if (size / 1032 > from.size())
        throw format_error("archive promises more than its bytes can hold", where,
                           std::to_string(from.size()) + " bytes", "enough for " + std::to_string(size));
    io::byte_buffer to(size, where);
    struct stream : z_stream {
        stream() : z_stream{} {}
        ~stream() { inflateEnd(this); }
    } z;
    if (inflateInit2(&z, raw_window) != Z_OK)
        throw io_error("zlib cannot start", where, z.msg ? z.msg : "no reason given");
    std::byte beyond;   // room for the first byte too many, without which the end would not be seen
    std::size_t read = 0, written = 0;
    for (;;) {
        const std::size_t capacity = to.span().size() - written;
        z.next_in = bytes_for_zlib(from.data() + read);
        z.avail_in = static_cast<uInt>(std::min(from.size() - read, most_at_once));
        z.next_out = reinterpret_cast<Bytef*>(capacity != 0 ? to.span().data() + written : &beyond);
        z.avail_out = capacity != 0 ? static_cast<uInt>(std::min(capacity, most_at_once)) : 1;
        const uInt had = z.avail_in, could = z.avail_out;
        const int result = ::inflate(&z, Z_NO_FLUSH);
        read += had - z.avail_in;
        written += could - z.avail_out;
        if (result == Z_MEM_ERROR) throw io_error("zlib has no memory to decompress", where);
        if (written > size || (result == Z_STREAM_END && (written != size || read != from.size())))
            throw format_error("compressed bytes have another length than the archive says", where,
                               std::to_string(read) + " bytes that make " + std::to_string(written),
                               std::to_string(from.size()) + " that make " + std::to_string(size));
        if (result == Z_STREAM_END) return to;
        if (result != Z_OK && result != Z_BUF_ERROR)
            throw format_error("compressed bytes are damaged", where, z.msg ? z.msg : "an unknown fault",
                               "deflate (RFC 1951)");
        if (had == z.avail_in && could == z.avail_out)
            throw format_error("compressed bytes are cut short", where, std::to_string(written) + " bytes",
                               std::to_string(size));
    }
}

/// Appends `bytes`, compressed, to `to`; the last call is the one with `last`.
class deflater {
public:
    explicit deflater(const std::string& where) : where_(where) {
        if (deflateInit2(&z_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw io_error("zlib cannot start", where, z_.msg ? z_.msg : "no reason given");
    }
    deflater(const deflater&) = delete;
    deflater& operator=(const deflater&) = delete;
    ~deflater() { deflateEnd(&z_); }

    void add(span<const std::byte> bytes, bool last, std::vector<std::byte>& to) {
        std::byte part[1 << 15];
        for (bool done = false; !done;) {
            const std::size_t n = std::min(bytes.size(), most_at_once);
            const int flush = last && n == bytes.size() ? Z_FINISH : Z_NO_FLUSH;
            z_.next_in = bytes_for_zlib(bytes.data());
            z_.avail_in = static_cast<uInt>(n);
            z_.next_out = reinterpret_cast<Bytef*>(part);
            z_.avail_out = sizeof part;
            const int result = ::deflate(&z_, flush);
            if (result == Z_STREAM_ERROR || result == Z_MEM_ERROR) throw io_error("zlib cannot compress", where_);
            bytes = bytes.subspan(n - z_.avail_in);
            to.insert(to.end(), part, part + (sizeof part - z_.avail_out));
            done = flush == Z_FINISH ? result == Z_STREAM_END : bytes.empty() && z_.avail_out != 0;
        }
    }

private:
    z_stream z_{};
    std::string where_;
};
#endif

} // namespace sinter::npz::detail
