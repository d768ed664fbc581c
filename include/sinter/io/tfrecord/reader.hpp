// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/byte_buffer.hpp>
#include <sinter/io/byte_source.hpp>
#include <sinter/io/tfrecord/compression.hpp>
#include <sinter/io/tfrecord/place.hpp>

#include <memory>
#if SINTER_BODIES
#include <sinter/io/file_from.hpp>
#include <sinter/io/gzip.hpp>
#include <sinter/io/tfrecord/frame.hpp>
#include <sinter/io/zlib.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::tfrecord {

struct reader_options {
    compression packed = compression::automatic;
    /// Whether the CRC of each record's bytes is checked; that of its length is in any case.
    bool check_data = true;
    /// Longer records are refused. What a record needs is taken as its bytes arrive, so a short file cannot ask for it.
    std::uint64_t most_record_bytes = std::uint64_t{1} << 30;
    /// A compressed file that unpacks to more is refused.
    std::uint64_t most_unpacked_bytes = UINT64_MAX;
    /// Of a plain file: at which a record begins, as reader::next_byte() or an index says. It has this number.
    std::uint64_t begin_byte = 0, begin_record = 0;
    /// How much is read at once, and held; more where a record is longer.
    std::size_t buffer_bytes = std::size_t{1} << 18;
};

/// The records of a TFRecord file, in a row:
///
///     tfrecord::reader r("train.tfrecord");
///     while (r.next()) use(r.record());
///
/// They are read in large blocks into a buffer that is used again, and are not copied out of it. A damaged file is a
/// format_error: "truncated record" where it ends within one, "corrupted record" where a CRC does not hold, with the
/// file, the byte at which the record begins, its number, what was got and what was needed; gzip's and zlib's own where
/// the stream does not hold. After an error next() goes on behind the record, where only that one's data were wrong,
/// and is false otherwise.
class reader {
public:
    /// Throws io_error where the file cannot be read, option_error where it cannot begin there, format_error where it
    /// is not packed as said.
    SINTER_APART explicit reader(std::string path, const reader_options& options = {});
    /// From another source, which must outlive the reader; begin_byte is where that stands in its file.
    SINTER_APART explicit reader(io::byte_source& source, const reader_options& options = {});
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;
    ~reader() = default;

    /// Goes to the next record; false at the end of the file.
    SINTER_APART bool next();

    /// The bytes of the record; until next() is called.
    span<const std::byte> record() const { return record_; }
    /// Its number, and the byte of the (unpacked) file at which its length begins.
    std::uint64_t number() const { return where_.record; }
    std::uint64_t byte() const { return where_.byte; }
    /// The byte behind it: where another reader begins to go on here.
    std::uint64_t next_byte() const { return buffer_byte_ + at_; }
    /// For errors; lives as long as the reader.
    const place& where() const { return where_; }
    const std::string& name() const { return source_->name(); }

private:
    reader_options options_;
    std::unique_ptr<io::byte_source> opened_, replayed_, unpacking_;   // each may read from the one before
    io::byte_source* source_;
    io::byte_buffer buffer_;
    std::size_t at_ = 0, end_ = 0;         // what was read and not yet used, in the buffer
    std::uint64_t buffer_byte_ = 0;        // of the file: the buffer's first
    std::uint64_t next_record_ = 0;
    std::uint64_t left_ = 0;               // from at_ to the end of the file at most, where fill() was false
    span<const std::byte> record_;
    place where_;
    bool broken_ = false;                  // nothing more can be read after an error

    SINTER_APART void begin();
    SINTER_APART bool fill(std::size_t n);
    void make_room(std::size_t n);
    std::size_t held() const { return end_ - at_; }
    bool have(std::size_t n) { return held() >= n || fill(n); }
    std::byte* here() { return buffer_.span().data() + at_; }
};

#if SINTER_BODIES
namespace detail {
/// Bytes that were read of a source already, and then the rest of it.
class replayed_source final : public io::byte_source {
public:
    replayed_source(io::byte_source& rest, span<const std::byte> first) : rest_(rest), left_(first.size()) {
        std::memcpy(first_, first.data(), left_);
        at_ = first_;
    }
    std::size_t read_some(span<std::byte> to) override {
        if (left_ == 0) return rest_.read_some(to);
        const std::size_t n = to.size() < left_ ? to.size() : left_;
        if (n != 0) std::memcpy(to.data(), at_, n);
        at_ += n;
        left_ -= n;
        return n;
    }
    std::uint64_t at_most_left() const override {
        const std::uint64_t rest = rest_.at_most_left();
        return rest < UINT64_MAX - left_ ? rest + left_ : UINT64_MAX;
    }
    const std::string& name() const override { return rest_.name(); }

private:
    io::byte_source& rest_;
    std::byte first_[head_bytes];
    const std::byte* at_;
    std::size_t left_;
};

template <class = void>
compression packing_of(span<const std::byte> first) {
    if (first.size() >= head_bytes && head_holds(first.data())) return compression::none;
    if (first.size() < 2) return compression::none;
    const auto a = std::to_integer<unsigned>(first[0]), b = std::to_integer<unsigned>(first[1]);
    if (a == 0x1f && b == 0x8b) return compression::gzip;
    if ((a & 15) == 8 && a >> 4 <= 7 && (a << 8 | b) % 31 == 0) return compression::zlib;   // RFC 1950, 2.2
    return compression::none;
}
} // namespace detail

SINTER_COLD SINTER_APART reader::reader(std::string path, const reader_options& options)
    : options_(options), opened_(std::make_unique<io::file_from>(std::move(path), options.begin_byte)),
      source_(opened_.get()) {
    begin();
}

SINTER_COLD SINTER_APART reader::reader(io::byte_source& source, const reader_options& options)
    : options_(options), source_(&source) {
    begin();
}

SINTER_APART void reader::begin() {
    constexpr std::uint64_t most = SIZE_MAX / 4;   // so that sums of sizes do not overflow
    if (options_.most_record_bytes > most) options_.most_record_bytes = most;
    if (options_.buffer_bytes < 4096) options_.buffer_bytes = 4096;
    const std::string& name = source_->name();
    buffer_byte_ = options_.begin_byte;
    next_record_ = options_.begin_record;
    const bool from_within = options_.begin_byte != 0;
    compression packed = options_.packed;
    if (from_within && packed == compression::automatic) packed = compression::none;
    if (packed != compression::none) {
        if (from_within)
            throw option_error("a compressed file cannot be read from within", name,
                               to_text({"byte ", options_.begin_byte}), "byte 0");
        std::byte first[head_bytes];
        const span<const std::byte> there(first, source_->read_up_to({first, sizeof first}));
        const compression found = detail::packing_of<>(there);
        if (packed == compression::automatic) packed = found;
        else if (packed != found && !there.empty())
            throw format_error("file is not compressed as said", name,
                               found == compression::gzip ? "gzip" : found == compression::zlib ? "zlib" : "neither",
                               packed == compression::gzip ? "gzip" : "zlib");
        replayed_ = std::make_unique<detail::replayed_source>(*source_, there);
        source_ = replayed_.get();
        if (there.empty()) packed = compression::none;
        if (packed == compression::gzip) unpacking_ = std::make_unique<io::gzip_source>(*source_);
        if (packed == compression::zlib) unpacking_ = std::make_unique<io::zlib_source>(*source_);
        if (unpacking_) source_ = unpacking_.get();
    }
    where_ = {name, options_.begin_byte, options_.begin_record, unpacking_ != nullptr};
    buffer_ = io::byte_buffer(options_.buffer_bytes, name);
}

SINTER_APART bool reader::next() {
    if (broken_) return false;
    record_ = {};
    where_.byte = next_byte();
    where_.record = next_record_;
    if (!have(head_bytes)) {
        broken_ = true;
        if (held() == 0) return false;
        detail::refuse_end(where_, left_, head_bytes, ", its length and the CRC of that");
    }
    if (!detail::head_holds(here())) {
        broken_ = true;
        detail::refuse_head(where_, here());
    }
    const auto n = detail::little<std::uint64_t>(here());
    if (n > options_.most_record_bytes) {
        broken_ = true;
        detail::refuse_size(where_, n, options_.most_record_bytes);
    }
    const std::size_t all = frame_bytes + static_cast<std::size_t>(n);
    if (!have(all)) {
        broken_ = true;
        detail::refuse_end(where_, left_, all, to_text({", a record of ", n}));
    }
    const std::byte* const data = here() + head_bytes;
    at_ += all;
    ++next_record_;
    if (options_.check_data) {
        const auto crc = detail::little<std::uint32_t>(data + n);
        if (base::masked_crc32c({data, static_cast<std::size_t>(n)}) != crc)
            detail::refuse_data(where_, {data, static_cast<std::size_t>(n)}, crc);
    }
    record_ = {data, static_cast<std::size_t>(n)};
    return true;
}

/// Whether the buffer has `n` bytes from at_ on, after as much was read as fits: the file may have fewer.
SINTER_APART bool reader::fill(std::size_t n) {
    const std::uint64_t coming = source_->at_most_left();
    if (coming < n - held() && n > head_bytes) {   // before memory is taken; whether a head is there is to be seen
        left_ = held() + coming;
        return false;
    }
    broken_ = true;   // unless all of this goes well
    while (held() < n) {
        if (at_ + n > buffer_.span().size()) make_room(n);
        const std::size_t got = source_->read_some({buffer_.span().data() + end_, buffer_.span().size() - end_});
        if (got == 0) break;
        end_ += got;
        if (unpacking_ && buffer_byte_ + end_ > options_.most_unpacked_bytes)
            throw format_error("file unpacks to more than allowed", where_.text(),
                               to_text({"more than ", buffer_byte_ + end_ - 1, " bytes"}),
                               to_text({"at most ", options_.most_unpacked_bytes, " (option most_unpacked_bytes)"}));
    }
    broken_ = false;
    left_ = held();
    return held() >= n;
}

/// What is held goes to the buffer's front, or to that of a larger one: of about twice what really came at most.
inline void reader::make_room(std::size_t n) {
    const std::size_t had = held(), size = buffer_.span().size();
    const std::size_t wanted = n <= size ? n : n < 2 * had ? n + n / 8 : 2 * had < size ? size : 2 * had;
    if (wanted > size) {
        io::byte_buffer larger(wanted, source_->name());
        if (had != 0) std::memcpy(larger.span().data(), here(), had);
        buffer_ = std::move(larger);
    } else if (at_ != 0 && had != 0) {
        std::memmove(buffer_.span().data(), here(), had);
    }
    buffer_byte_ += at_;
    at_ = 0;
    end_ = had;
}
#endif

} // namespace sinter::tfrecord
