// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/byte_buffer.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/tfrecord/index.hpp>
#if SINTER_BODIES
#include <sinter/base/os/file_names.hpp>
#include <sinter/io/tfrecord/frame.hpp>
#include <sinter/io/tfrecord/writer.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// A plain TFRecord file whose records are read in any order, by an index. Any number of threads may read at the same
/// time, each with a buffer of its own.
///
/// A record is read as a whole: its length must be what the index says, and its CRCs must hold. So an index of another
/// file, and a file that was changed meanwhile, is a format_error and never another record's bytes.
class record_file {
public:
    /// Memory for the record that was read last, used again.
    class buffer {
        friend record_file;
        io::byte_buffer bytes_;
    };

    /// With the index that lies beside it, FILE.idx; without one the file is read once to make it. Throws io_error
    /// where a file cannot be read, format_error as reader and parse_index do.
    SINTER_APART explicit record_file(std::string path, bool check_data = true);
    /// With this index, whose records must lie within the file.
    SINTER_APART record_file(std::string path, record_index index, bool check_data = true);

    std::uint64_t size() const { return index_.size(); }
    const record_index& index() const { return index_; }
    const std::string& path() const { return path_; }

    /// The bytes of record `i`, below size(); they lie in `b` until that is used again. Throws io_error, format_error.
    SINTER_APART span<const std::byte> read(std::uint64_t i, buffer& b) const;
    /// For errors.
    place where(std::uint64_t i) const { return {path_, index_[static_cast<std::size_t>(i)].byte, i}; }

private:
    std::string path_;
    io::opened_file file_;
    record_index index_;
    bool check_data_;
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART record_file::record_file(std::string path, bool check_data)
    : path_(std::move(path)), file_(io::open_regular_file(path_)), check_data_(check_data) {
    const std::string beside = index_name(path_);
    index_ = base::os::exists(beside) ? read_index(beside, file_.size) : make_index(path_);
}

SINTER_COLD SINTER_APART record_file::record_file(std::string path, record_index index, bool check_data)
    : path_(std::move(path)), file_(io::open_regular_file(path_)), index_(std::move(index)), check_data_(check_data) {
    for (const record_extent& r : index_)
        if (r.bytes < frame_bytes || r.byte > file_.size || r.bytes > file_.size - r.byte)
            throw format_error("index has a record that the file has not", path_,
                               to_text({r.bytes, " bytes from ", r.byte, " on"}),
                               to_text({frame_bytes, " or more, within ", file_.size}));
}

SINTER_APART span<const std::byte> record_file::read(std::uint64_t i, buffer& b) const {
    const record_extent r = index_[static_cast<std::size_t>(i)];
    if (b.bytes_.span().size() < r.bytes) b.bytes_ = io::byte_buffer(r.bytes + r.bytes / 8, path_);
    const span<std::byte> to = b.bytes_.span().first(static_cast<std::size_t>(r.bytes));
    const std::ptrdiff_t got = base::os::read_up_to_at(file_.fd.get(), r.byte, to);
    if (got < 0) io::throw_io_error(errno, "cannot read", where(i).text());
    if (static_cast<std::size_t>(got) < to.size())
        detail::refuse_end(where(i), static_cast<std::size_t>(got), r.bytes, ", as the index says");
    if (!detail::head_holds(to.data())) detail::refuse_head(where(i), to.data());
    const auto n = detail::little<std::uint64_t>(to.data());
    if (n != r.bytes - frame_bytes)
        throw format_error("index is of another file", where(i).text(),
                           to_text({"a record of ", n, " bytes"}), to_text({r.bytes - frame_bytes, ", as it says"}));
    const span<const std::byte> data = to.subspan(head_bytes, to.size() - frame_bytes);
    if (check_data_) {
        const auto crc = detail::little<std::uint32_t>(data.end());
        if (base::masked_crc32c(data) != crc) detail::refuse_data(where(i), data, crc);
    }
    return data;
}
#endif

} // namespace sinter::tfrecord
