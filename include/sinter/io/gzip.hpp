// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/byte_source.hpp>

#include <array>
#include <limits>
#include <zlib.h>

namespace sinter::inline SINTER_ORDINARY::io {

/// Decompresses gzip (RFC 1952) from another source; input that does not begin with gzip's two
/// bytes passes through unchanged. Files made of several members are read as one. Throws
/// format_error where the stream is cut short, its checksum does not hold, or something else
/// follows it. Uses zlib.
class gzip_source final : public byte_source {
public:
    /// `compressed` must outlive this source.
    SINTER_APART explicit gzip_source(byte_source& compressed);
    gzip_source(const gzip_source&) = delete; // zlib's state points back at the stream
    gzip_source& operator=(const gzip_source&) = delete;
    ~gzip_source() override {
        if (is_gzip_) inflateEnd(&stream_);
    }

    const std::string& name() const override { return in_.name(); }

    SINTER_APART std::uint64_t at_most_left() const override;

    SINTER_APART std::size_t read_some(span<std::byte> to) override;

private:
    static constexpr int gzip_window = 15 + 16; // the largest window; + 16 asks zlib for gzip's header and checksum

    SINTER_SELDOM SINTER_COLD void refill();

    SINTER_SELDOM SINTER_COLD std::size_t pass_some(span<std::byte> to);

    SINTER_SELDOM SINTER_COLD std::size_t inflate_some(span<std::byte> to);

    [[noreturn]] SINTER_APART SINTER_COLD void refuse(int result) const;
    SINTER_COLD std::string place() const {
        return to_text({name(), ", near compressed byte ", consumed_ - waiting_.size()});
    }

    byte_source& in_;
    std::array<std::byte, 1 << 16> buffer_;
    span<std::byte> waiting_;  // read from in_, not yet used; lies in buffer_
    std::uint64_t consumed_ = 0;    // bytes taken from in_
    z_stream stream_{};
    bool is_gzip_ = false, member_ended_ = false;
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART gzip_source::gzip_source(byte_source& compressed)
    : in_(compressed) {
    refill();
    is_gzip_ = waiting_.size() >= 2 && waiting_[0] == std::byte{0x1f} && waiting_[1] == std::byte{0x8b};
    if (is_gzip_ && inflateInit2(&stream_, gzip_window) != Z_OK)
        throw error("zlib cannot start", name(), stream_.msg ? stream_.msg : "no reason given");
}

SINTER_APART std::uint64_t gzip_source::at_most_left() const {
    const std::uint64_t raw = in_.at_most_left() + waiting_.size();
    if (!is_gzip_) return raw;
    // Deflate yields at most 258 bytes for 2 bits (zlib's technical notes: 1032 to 1); what
    // zlib holds back between two calls is less than its window.
    constexpr std::uint64_t greatest_ratio = 1032, held_back = 1 << 16;
    return raw < (UINT64_MAX - held_back) / greatest_ratio ? raw * greatest_ratio + held_back : UINT64_MAX;
}

SINTER_APART std::size_t gzip_source::read_some(span<std::byte> to) {
    if (to.empty()) return 0;
    return is_gzip_ ? inflate_some(to) : pass_some(to);
}

SINTER_SELDOM_BODY void gzip_source::refill() {
    waiting_ = {buffer_.data(), in_.read_up_to(buffer_)};
    consumed_ += waiting_.size();
}

SINTER_SELDOM_BODY std::size_t gzip_source::pass_some(span<std::byte> to) {
    if (waiting_.empty()) return in_.read_some(to);
    const std::size_t n = std::min(to.size(), waiting_.size());
    std::memcpy(to.data(), waiting_.data(), n);
    waiting_ = waiting_.subspan(n);
    return n;
}

SINTER_SELDOM_BODY std::size_t gzip_source::inflate_some(span<std::byte> to) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    for (;;) {
        if (waiting_.empty()) refill();
        if (member_ended_) {
            if (waiting_.empty()) return 0;
            inflateReset(&stream_);
            member_ended_ = false;
        }
        // zlib's next_in is not const in its older headers, though it never writes there.
        stream_.next_in = reinterpret_cast<Bytef*>(waiting_.data());
        stream_.avail_in = static_cast<uInt>(waiting_.size());
        stream_.next_out = reinterpret_cast<Bytef*>(to.data());
        const auto capacity = static_cast<uInt>(std::min(to.size(), most));
        stream_.avail_out = capacity;
        const bool had_input = !waiting_.empty();
        const int result = inflate(&stream_, Z_NO_FLUSH);
        waiting_ = waiting_.last(stream_.avail_in);
        const std::size_t produced = capacity - stream_.avail_out;
        member_ended_ = result == Z_STREAM_END;
        if (!member_ended_ && result != Z_OK && result != Z_BUF_ERROR) refuse(result);
        if (produced != 0) return produced;
        if (!member_ended_ && !had_input)
            throw format_error("gzip stream is cut short", place(), "the end of the file",
                               "the rest of a compressed stream and its checksum");
    }
}

SINTER_APART void gzip_source::refuse(int result) const {
    if (result == Z_MEM_ERROR) throw io_error("zlib has no memory to decompress", place());
    throw format_error("gzip stream is damaged", place(), stream_.msg ? stream_.msg : "an unknown fault",
                       "valid gzip data (RFC 1952)");
}
#endif

} // namespace sinter::io
