// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/function_ref.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/tfrecord/compression.hpp>
#include <sinter/io/tfrecord/place.hpp>

#include <memory>
#include <string>
#include <vector>
#if SINTER_BODIES
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/tfrecord/frame.hpp>
#include <sinter/io/tfrecord/shard_name.hpp>
#include <limits>
#include <zlib.h>
#endif

namespace sinter::inline SINTER_ORDINARY::tfrecord {

struct writer_options {
    compression packed = compression::none;   ///< `automatic` is none
    int level = -1;                           ///< of compression: 0, stored, to 9, smallest; -1: zlib's own choice, 6
    /// Beside FILE is FILE.idx, with a line "byte length" for each record: where it begins, and how many bytes it has
    /// with its length and CRCs. NVIDIA DALI reads such files, and its tfrecord2idx writes the same. Of a plain file.
    bool index = false;
};

namespace detail {
class packer;
} // namespace detail

/// Writes records as a TFRecord file: the same bytes as TensorFlow writes. The bytes go on to a function in large
/// blocks; tfrecord::write() has one that writes a file.
class writer {
public:
    using sink = base::function_ref<void(span<const std::byte>)>;

    /// What `to` calls must live as long as the writer; `name` is what errors call the file. Throws option_error where
    /// the options do not go together.
    SINTER_APART explicit writer(sink to, const writer_options& options = {}, std::string name = "TFRecord");
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    SINTER_APART ~writer();

    /// One more record. Throws what the function throws.
    SINTER_APART void add(span<const std::byte> record);
    void add(std::string_view record) { add(as_bytes(record)); }
    /// What is still held goes to the function; nothing may be added afterwards. A file that was not finished is cut
    /// short.
    SINTER_APART void finish();

    std::uint64_t records() const { return records_; }
    /// Of the file, unpacked, so far: where the next record begins.
    std::uint64_t bytes() const { return bytes_; }
    /// The index, where the options ask for one.
    const std::string& index() const { return index_; }

private:
    static constexpr std::size_t block_bytes = std::size_t{1} << 18;

    sink to_;
    writer_options options_;
    std::string name_;
    std::unique_ptr<detail::packer> packer_;
    std::vector<std::byte> block_;
    std::uint64_t records_ = 0, bytes_ = 0;
    std::string index_;

    SINTER_APART void put(span<const std::byte> bytes);
    SINTER_APART void flush(bool last);
};

/// Writes a TFRecord file, whole or not at all (io::atomic_write), with the records that `fill(writer&)` adds; its
/// index after it. (If the program ends between both, the index is missing, or is that of the file of before, which
/// whoever uses it notices: index.hpp.) Throws io_error where the file cannot be written, option_error as writer does,
/// and what `fill` throws.
SINTER_SELDOM SINTER_COLD void write(const std::string& path, base::function_ref<void(writer&)> fill,
                                     const writer_options& options = {});
/// The same for each of `shards` files, NAME-00000-of-00010.tfrecord and so on: `fill(writer&, shard)`, one after the
/// other. Each is whole or not there; if this throws, those before are there.
SINTER_SELDOM SINTER_COLD void write_shards(const std::string& name, int shards,
                                            base::function_ref<void(writer&, int shard)> fill,
                                            const writer_options& options = {});

/// The index of FILE is FILE.idx.
inline std::string index_name(const std::string& file) { return file + ".idx"; }

#if SINTER_BODIES
namespace detail {
/// Compresses what passes through it, as TensorFlow does: all of zlib's memory.
class packer {
public:
    packer(compression how, int level, const std::string& name) : name_(name) {
        constexpr int largest_window = 15, gzip = 16, most_memory = 9;
        const int window = largest_window + (how == compression::gzip ? gzip : 0);
        if (deflateInit2(&z_, level, Z_DEFLATED, window, most_memory, Z_DEFAULT_STRATEGY) != Z_OK)
            throw io_error("zlib cannot start", name_, z_.msg ? z_.msg : "no reason given");
    }
    packer(const packer&) = delete;
    packer& operator=(const packer&) = delete;
    ~packer() { deflateEnd(&z_); }

    void pass(span<const std::byte> bytes, bool last, writer::sink to) {
        constexpr std::size_t most = std::numeric_limits<uInt>::max();
        std::byte part[1 << 15];
        for (bool done = false; !done;) {
            const std::size_t n = bytes.size() < most ? bytes.size() : most;
            const int flush = last && n == bytes.size() ? Z_FINISH : Z_NO_FLUSH;
            // zlib's next_in is not const in its older headers, though it never writes there.
            z_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
            z_.avail_in = static_cast<uInt>(n);
            z_.next_out = reinterpret_cast<Bytef*>(part);
            z_.avail_out = sizeof part;
            const int result = ::deflate(&z_, flush);
            if (result == Z_STREAM_ERROR || result == Z_MEM_ERROR) throw io_error("zlib cannot compress", name_);
            bytes = bytes.subspan(n - z_.avail_in);
            if (z_.avail_out != sizeof part) to({part, sizeof part - z_.avail_out});
            done = flush == Z_FINISH ? result == Z_STREAM_END : bytes.empty() && z_.avail_out != 0;
        }
    }

private:
    z_stream z_{};
    const std::string& name_;
};
} // namespace detail

SINTER_COLD SINTER_APART writer::writer(sink to, const writer_options& options, std::string name)
    : to_(to), options_(options), name_(std::move(name)) {
    const bool packed = options.packed == compression::gzip || options.packed == compression::zlib;
    if (options.level < -1 || options.level > 9)
        throw option_error("level of compression is out of range", name_, to_text({options.level}), "-1 to 9");
    if (options.index && packed)
        throw option_error("a compressed file has no index", name_, "index and a compression",
                           "one of both: records are not found within a compressed stream");
    if (packed) packer_ = std::make_unique<detail::packer>(options.packed, options.level, name_);
}

SINTER_COLD SINTER_APART writer::~writer() = default;

SINTER_APART void writer::add(span<const std::byte> record) {
    std::byte head[head_bytes], foot[foot_bytes];
    detail::put_little(head, static_cast<std::uint64_t>(record.size()));
    detail::put_little(head + 8, base::masked_crc32c({head, 8}));
    detail::put_little(foot, base::masked_crc32c(record));
    put({head, head_bytes});
    put(record);
    put({foot, foot_bytes});
    const std::uint64_t all = frame_bytes + record.size();
    if (options_.index) index_ += to_text({bytes_, " ", all, "\n"});
    bytes_ += all;
    ++records_;
}

SINTER_APART void writer::finish() { flush(true); }

SINTER_APART void writer::put(span<const std::byte> bytes) {
    if (block_.size() + bytes.size() > block_bytes) flush(false);
    if (bytes.size() < block_bytes) block_.insert(block_.end(), bytes.begin(), bytes.end());
    else if (packer_) packer_->pass(bytes, false, to_);
    else to_(bytes);
}

SINTER_APART void writer::flush(bool last) {
    if (packer_) packer_->pass({block_.data(), block_.size()}, last, to_);
    else if (!block_.empty()) to_({block_.data(), block_.size()});
    block_.clear();
}

SINTER_SELDOM_BODY void write(const std::string& path, base::function_ref<void(writer&)> fill,
                              const writer_options& options) {
    std::string index;
    io::atomic_write(path, [&](io::output_file& out) {
        const auto to_file = [&](span<const std::byte> bytes) { out.write(bytes); };
        writer w(to_file, options, path);
        fill(w);
        w.finish();
        index = w.index();
    });
    if (options.index) io::atomic_write(index_name(path), [&](io::output_file& out) { out.write(index); });
}

SINTER_SELDOM_BODY void write_shards(const std::string& name, int shards,
                                     base::function_ref<void(writer&, int shard)> fill,
                                     const writer_options& options) {
    if (shards < 1) throw option_error("number of shards is out of range", name, to_text({shards}), "1 or more");
    for (int shard = 0; shard < shards; ++shard)
        write(shard_name(name, shard, shards), [&](writer& w) { fill(w, shard); }, options);
}
#endif

} // namespace sinter::tfrecord
