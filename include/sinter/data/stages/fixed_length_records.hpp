// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/file_paths.hpp>
#include <sinter/data/stages/stage.hpp>
#include <sinter/io/file.hpp>
#include <cstring>
#include <memory>
#include <utility>
#if SINTER_BODIES
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct fixed_length_options {
    std::int64_t header = 0, footer = 0;   ///< bytes at a file's beginning and at its end that are no records
};

namespace stage_parts {

/// Files of records of equal length. Threads read at the same time.
class fixed_length_files {
public:
    static constexpr std::size_t block = std::size_t{1} << 16;   ///< is read at once where records are read in a row

    SINTER_APART fixed_length_files(file_paths paths, std::int64_t bytes, fixed_length_options o);
    std::int64_t size() const { return size_; }
    std::size_t bytes() const { return bytes_; }
    /// What a thread has read ahead.
    struct block_of_file {
        std::vector<std::byte> bytes;
        std::int64_t first = 0, records = 0;   ///< that are there
        std::int64_t last = -2;                ///< that was asked for
    };
    /// The bytes of record `i`. Where that follows the record before, those behind it are read with it.
    SINTER_APART void read(std::int64_t i, std::byte* to, block_of_file& held) const;
    SINTER_APART SINTER_COLD void describe(description& d) const;

private:
    struct one_file {
        io::opened_file file;
        std::int64_t first;     ///< number of its first record
    };
    file_paths paths_;
    fixed_length_options options_;
    std::size_t bytes_;
    std::vector<one_file> files_;
    std::int64_t size_ = 0;

    void read_records(std::int64_t i, std::int64_t n, std::byte* to) const;
    std::size_t file_of(std::int64_t i) const;
};

} // namespace stage_parts

template <class T>
class fixed_length_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = T;
    using state = stage_parts::fixed_length_files::block_of_file;

    explicit fixed_length_stage(std::shared_ptr<const stage_parts::fixed_length_files> files)
        : files_(std::move(files)) {}
    std::int64_t size() const { return files_->size(); }
    void begin(state&, std::int64_t) const {}
    T get(state& s, std::int64_t i) const {
        T record(files_->bytes(), typename T::value_type{});
        files_->read(i, reinterpret_cast<std::byte*>(record.data()), s);
        return record;
    }
    void prefetch(state&, std::int64_t) const {}
    SINTER_COLD void describe(description& d) const { files_->describe(d); }

private:
    std::shared_ptr<const stage_parts::fixed_length_files> files_;
};

/// Records of `bytes` bytes each of binary files, one file after the other: an indexed stage of std::string, or of
/// std::vector<std::byte> by fixed_length_records<std::vector<std::byte>>(...).
///
///     auto images = data::fixed_length_records("train-images.idx", 784, {.header = 16}) | data::shuffle();
///
/// All files are opened, and stay open. option_error where bytes < 1, or header or footer < 0; io_error where a file
/// cannot be read, or later where it has become shorter; format_error where what is between header and footer is no
/// whole number of records, with the words of tf.data.FixedLengthRecordDataset. Going on costs nothing. Compressed
/// files are not unpacked: their records have no place that could be known.
template <class T = std::string>
    requires std::same_as<T, std::string> || std::same_as<T, std::vector<std::byte>>
fixed_length_stage<T> fixed_length_records(file_paths paths, std::int64_t bytes, fixed_length_options o = {}) {
    return fixed_length_stage<T>(
        std::make_shared<const stage_parts::fixed_length_files>(std::move(paths), bytes, o));
}

#if SINTER_BODIES
namespace stage_parts {

SINTER_COLD SINTER_APART fixed_length_files::fixed_length_files(file_paths paths, std::int64_t bytes,
                                                                fixed_length_options o)
    : paths_(std::move(paths)), options_(o), bytes_(static_cast<std::size_t>(bytes)) {
    need_files(paths_, "fixed_length_records");
    if (bytes < 1) throw option_error("impossible length", "fixed_length_records", to_text({bytes}), "1 or more");
    if (o.header < 0 || o.footer < 0)
        throw option_error("impossible header or footer", "fixed_length_records",
                           to_text({o.header, " and ", o.footer, " bytes"}), "0 or more");
    for (const std::string& path : paths_) {
        io::opened_file file = io::open_regular_file(path);
        const auto all = static_cast<std::int64_t>(file.size);
        if (o.header > all || o.footer > all - o.header)
            throw format_error("file is shorter than its header and footer", path, to_text({all, " bytes"}),
                               to_text({"a header of ", o.header, " and a footer of ", o.footer}));
        const std::int64_t body = all - o.header - o.footer;
        if (body % bytes != 0)
            throw format_error(to_text({"Excluding the header (", o.header, " bytes) and footer (", o.footer,
                                        " bytes), input file \"", path, "\" has body length ", body,
                                        " bytes, which is not an exact multiple of the record length (", bytes,
                                        " bytes)."}),
                               path, to_text({body % bytes, " bytes more than whole records"}), "none");
        files_.push_back({std::move(file), size_});
        size_ += body / bytes;
    }
}

inline std::size_t fixed_length_files::file_of(std::int64_t i) const {
    const auto behind = std::upper_bound(files_.begin(), files_.end(), i,
                                         [](std::int64_t n, const one_file& f) { return n < f.first; });
    return static_cast<std::size_t>(behind - files_.begin()) - 1;
}

/// So many records of one file.
inline void fixed_length_files::read_records(std::int64_t i, std::int64_t n, std::byte* to) const {
    const std::size_t f = file_of(i);
    const std::uint64_t at = static_cast<std::uint64_t>(options_.header) +
                             static_cast<std::uint64_t>(i - files_[f].first) * bytes_;
    const std::size_t all = static_cast<std::size_t>(n) * bytes_;
    const std::ptrdiff_t got = base::os::read_up_to_at(files_[f].file.fd.get(), at, {to, all});
    if (got < 0)
        io::throw_io_error(errno, "cannot read",
                           to_text({paths_[f], ", byte ", at, ", record ", i - files_[f].first}));
    if (static_cast<std::size_t>(got) < all)
        throw io_error("file became shorter while it was read", paths_[f],
                       to_text({at + static_cast<std::uint64_t>(got), " bytes"}), to_text({files_[f].file.size}));
}

SINTER_APART void fixed_length_files::read(std::int64_t i, std::byte* to, block_of_file& held) const {
    const bool in_a_row = i == held.last + 1;
    held.last = i;
    if (i < held.first || i >= held.first + held.records) {
        if (!in_a_row || bytes_ > block / 2) return read_records(i, 1, to);
        const std::size_t f = file_of(i);
        const std::int64_t end = f + 1 < files_.size() ? files_[f + 1].first : size_;
        const std::int64_t n = std::min(static_cast<std::int64_t>(block / bytes_), end - i);
        held.records = 0;   // should reading throw
        held.bytes.resize(static_cast<std::size_t>(n) * bytes_);
        read_records(i, n, held.bytes.data());
        held.first = i;
        held.records = n;
    }
    std::memcpy(to, held.bytes.data() + static_cast<std::size_t>(i - held.first) * bytes_, bytes_);
}

SINTER_APART void fixed_length_files::describe(description& d) const {
    std::uint64_t all = 0;
    for (const one_file& f : files_) all += f.file.size;
    d.stage("records of fixed length");
    describe_files(d, paths_, all);
    d("bytes of a record", bytes_)("header", options_.header)("footer", options_.footer);
}

} // namespace stage_parts
#endif

} // namespace sinter::data
