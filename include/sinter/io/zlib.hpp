// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/io/byte_source.hpp>

#include <array>
#include <zlib.h>
#if SINTER_BODIES
#include <limits>
#endif

namespace sinter::inline SINTER_ORDINARY::io {

/// Decompresses zlib's own format (RFC 1950) from another source; one such stream after another is read as one. Throws
/// format_error where the stream is damaged or cut short, its checksum does not hold, or something else follows it.
/// gzip_source reads gzip. Uses zlib.
class zlib_source final : public byte_source {
public:
    /// `compressed` must outlive this source.
    SINTER_APART explicit zlib_source(byte_source& compressed);
    zlib_source(const zlib_source&) = delete;   // zlib's state points back at the stream
    zlib_source& operator=(const zlib_source&) = delete;
    ~zlib_source() override { inflateEnd(&stream_); }

    SINTER_APART std::size_t read_some(span<std::byte> to) override;
    SINTER_APART std::uint64_t at_most_left() const override;
    const std::string& name() const override { return in_.name(); }

private:
    SINTER_COLD std::string place() const {
        return to_text({name(), ", near compressed byte ", consumed_ - waiting_.size()});
    }

    byte_source& in_;
    std::array<std::byte, 1 << 16> buffer_;
    span<std::byte> waiting_;       // read from in_, not yet used; lies in buffer_
    std::uint64_t consumed_ = 0;    // bytes taken from in_
    z_stream stream_{};
    bool ended_ = false;            // the stream that is being read; another may follow
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART zlib_source::zlib_source(byte_source& compressed) : in_(compressed) {
    if (inflateInit(&stream_) != Z_OK)
        throw io_error("zlib cannot start", name(), stream_.msg ? stream_.msg : "no reason given");
}

SINTER_APART std::size_t zlib_source::read_some(span<std::byte> to) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    if (to.empty()) return 0;
    for (;;) {
        if (waiting_.empty()) {
            waiting_ = {buffer_.data(), in_.read_up_to(buffer_)};
            consumed_ += waiting_.size();
        }
        if (ended_) {
            if (waiting_.empty()) return 0;
            inflateReset(&stream_);
            ended_ = false;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(waiting_.data());
        stream_.avail_in = static_cast<uInt>(waiting_.size());
        stream_.next_out = reinterpret_cast<Bytef*>(to.data());
        const auto capacity = static_cast<uInt>(to.size() < most ? to.size() : most);
        stream_.avail_out = capacity;
        const bool had_input = !waiting_.empty();
        const int result = inflate(&stream_, Z_NO_FLUSH);
        waiting_ = waiting_.last(stream_.avail_in);
        ended_ = result == Z_STREAM_END;
        if (result == Z_MEM_ERROR) throw io_error("zlib has no memory to decompress", place());
        if (!ended_ && result != Z_OK && result != Z_BUF_ERROR)
            throw format_error("zlib stream is damaged", place(), stream_.msg ? stream_.msg : "an unknown fault",
                               "valid zlib data (RFC 1950)");
        if (const std::size_t made = capacity - stream_.avail_out) return made;
        if (!ended_ && !had_input)
            throw format_error("zlib stream is cut short", place(), "the end of the file",
                               "the rest of a compressed stream and its checksum");
    }
}

SINTER_APART std::uint64_t zlib_source::at_most_left() const {
    // Deflate yields at most 258 bytes for 2 bits (zlib's technical notes: 1032 to 1); what zlib holds back between two
    // calls is less than its window.
    constexpr std::uint64_t greatest_ratio = 1032, held_back = 1 << 16;
    const std::uint64_t raw = in_.at_most_left(), most = (UINT64_MAX - held_back) / greatest_ratio;
    return raw < most - waiting_.size() ? (raw + waiting_.size()) * greatest_ratio + held_back : UINT64_MAX;
}
#endif

} // namespace sinter::io
