// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/file_stream.hpp>
#include <sinter/io/tfrecord/reader.hpp>
#include <sinter/io/tfrecord/record_file.hpp>
#include <algorithm>

/// The records of TFRecord files as elements.
namespace sinter::inline SINTER_ORDINARY::data {

struct tfrecord_options {
    tfrecord::compression packed = tfrecord::compression::automatic;   ///< of all files; automatic: of each its own
    bool check_data = true;   ///< whether the CRC of each record's bytes is checked; that of its length is in any case
    std::uint64_t most_record_bytes = std::uint64_t{1} << 30;   ///< longer records are refused
    std::uint64_t most_unpacked_bytes = UINT64_MAX;             ///< a compressed file that unpacks to more is refused
};

namespace stage_parts {

class tfrecord_files {
public:
    using value_type = std::string;
    struct ticket {
        std::string record;
        file_cursor at;   ///< where it begins
    };

    SINTER_APART tfrecord_files(file_paths paths, tfrecord_options o);
    std::size_t files() const { return paths_.size(); }
    const std::string& get(const ticket& k) const { return k.record; }
    /// For errors about a record.
    tfrecord::place where(const ticket& k) const {
        const auto f = static_cast<std::size_t>(k.at.file);
        return {paths_[f], static_cast<std::uint64_t>(k.at.byte), static_cast<std::uint64_t>(k.at.record), packed_[f]};
    }
    SINTER_APART SINTER_COLD void describe(description& d) const;

    class open_file {
    public:
        SINTER_APART open_file(const tfrecord_files& all, const file_cursor& c);
        SINTER_APART bool next(file_cursor& c, ticket& k);

    private:
        tfrecord::reader reader_;

        SINTER_APART SINTER_COLD void pass_over(std::uint64_t bytes);
    };

private:
    file_paths paths_;
    tfrecord_options options_;
    std::vector<bool> packed_;   // of each file
    std::uint64_t bytes_ = 0;

    tfrecord::reader_options options_at(const file_cursor& c) const;
};

/// TFRecord files with their indices.
class indexed_tfrecord_files {
public:
    SINTER_APART indexed_tfrecord_files(file_paths paths, bool check_data);
    std::int64_t size() const { return first_.back(); }
    SINTER_APART span<const std::byte> read(std::int64_t i, tfrecord::record_file::buffer& b) const;
    SINTER_APART SINTER_COLD tfrecord::place where(std::int64_t i) const;
    SINTER_APART SINTER_COLD void describe(description& d) const;

private:
    file_paths paths_;
    std::vector<tfrecord::record_file> files_;
    std::vector<std::int64_t> first_;   // of each file the number of its first record; and of all of them
    std::uint64_t bytes_ = 0;

    std::size_t file_of(std::int64_t i) const;
};

} // namespace stage_parts

class tfrecord_stream : public file_stream<stage_parts::tfrecord_files> {
public:
    using file_stream::file_stream;
    /// Where a record lies, for errors about it.
    tfrecord::place where(const ticket& k) const { return format().where(k); }
};

/// The records of TFRecord files, file after file: a stream of std::string, of the records' bytes.
///
///     auto train = data::tfrecords({"a.tfrecord", "b.tfrecord.gz"}) | data::examples_as<sample>() | data::batch(64);
///
/// The beginning of each file is read when this is called: io_error where that cannot be. A damaged record is a
/// format_error as tfrecord::reader has it, with the file, the byte and the record's number. The stream then goes on
/// behind a record whose data are wrong, and at the next file where a length is. Going on in the middle opens the file
/// at the byte of the next record; a file that is compressed (gzip, zlib) it reads from its beginning. Memory: 256 KB
/// for each file that is open, more where a record is longer, and the records on their way.
SINTER_SELDOM SINTER_COLD tfrecord_stream tfrecords(file_paths paths, tfrecord_options o = {});

class indexed_tfrecord_stage {
public:
    static constexpr bool is_indexed = true;
    static constexpr int maps = 0;
    using value_type = std::string;
    using state = tfrecord::record_file::buffer;

    explicit indexed_tfrecord_stage(std::shared_ptr<const stage_parts::indexed_tfrecord_files> files)
        : files_(std::move(files)) {}
    std::int64_t size() const { return files_->size(); }
    void begin(state&, std::int64_t) const {}
    std::string get(state& s, std::int64_t i) const {
        const span<const std::byte> record = files_->read(i, s);
        return {reinterpret_cast<const char*>(record.data()), record.size()};
    }
    void prefetch(state&, std::int64_t) const {}
    /// Where a record lies, for errors about it.
    tfrecord::place where(std::int64_t i) const { return files_->where(i); }
    SINTER_COLD void describe(description& d) const { files_->describe(d); }

private:
    std::shared_ptr<const stage_parts::indexed_tfrecord_files> files_;
};

/// The same records, each found by its number: an indexed stage, which shuffle() takes whole.
///
/// Beside each file should lie its index, FILE.idx (io/tfrecord/index.hpp); a file without one is read once when this
/// is called. Errors as tfrecord::record_file has them, and option_error for a file that is compressed: its records
/// have no place that could be known. All files stay open. Memory: 16 bytes a record, and one record for each thread.
SINTER_SELDOM SINTER_COLD indexed_tfrecord_stage tfrecords_indexed(file_paths paths, bool check_data = true);

#if SINTER_BODIES
namespace stage_parts {

// ---- tfrecord_files

SINTER_COLD SINTER_APART tfrecord_files::tfrecord_files(file_paths paths, tfrecord_options o)
    : paths_(std::move(paths)), options_(o) {
    need_files(paths_, "tfrecords");
    for (const std::string& path : paths_) {
        bytes_ += io::open_regular_file(path).size;
        tfrecord::reader_options first = options_at({});
        first.buffer_bytes = 0;
        packed_.push_back(tfrecord::reader(path, first).where().unpacked);
    }
}

inline tfrecord::reader_options tfrecord_files::options_at(const file_cursor& c) const {
    tfrecord::reader_options r{.packed = options_.packed,
                               .check_data = options_.check_data,
                               .most_record_bytes = options_.most_record_bytes,
                               .most_unpacked_bytes = options_.most_unpacked_bytes};
    if (c.byte == 0 || packed_[static_cast<std::size_t>(c.file)]) return r;
    r.begin_byte = static_cast<std::uint64_t>(c.byte);
    r.begin_record = static_cast<std::uint64_t>(c.record);
    return r;
}

SINTER_APART void tfrecord_files::describe(description& d) const {
    d.stage("records of TFRecord files");
    describe_files(d, paths_, bytes_);
    const bool replays = std::find(packed_.begin(), packed_.end(), true) != packed_.end();
    d("goes on", replays ? "by reading compressed files from their beginning" : "at a byte of a file");
}

SINTER_COLD SINTER_APART tfrecord_files::open_file::open_file(const tfrecord_files& all, const file_cursor& c)
    : reader_(all.paths_[static_cast<std::size_t>(c.file)], all.options_at(c)) {
    if (reader_.where().unpacked) pass_over(static_cast<std::uint64_t>(c.byte));
}

/// Reads records to that byte, where one must begin. Errors that the reader goes on behind were somebody's before.
SINTER_APART void tfrecord_files::open_file::pass_over(std::uint64_t bytes) {
    while (reader_.next_byte() < bytes) {
        const std::uint64_t before = reader_.next_byte();
        try {
            if (!reader_.next()) break;
        } catch (const format_error&) {
            if (reader_.next_byte() == before) throw;
        }
    }
    if (reader_.next_byte() != bytes)
        throw option_error("no record of the file begins where to go on", reader_.name(),
                           to_text({"unpacked byte ", bytes}), to_text({"another one, such as ", reader_.next_byte()}));
}

SINTER_APART bool tfrecord_files::open_file::next(file_cursor& c, ticket& k) {
    const auto move = [&] {
        c.byte = static_cast<std::int64_t>(reader_.next_byte());
        ++c.record;
    };
    k.at = c;
    try {
        if (!reader_.next()) return false;
    } catch (const format_error&) {
        if (reader_.next_byte() != reader_.byte()) move();
        throw;
    }
    const span<const std::byte> record = reader_.record();
    k.record.assign(reinterpret_cast<const char*>(record.data()), record.size());
    move();
    return true;
}

// ---- indexed_tfrecord_files

SINTER_COLD SINTER_APART indexed_tfrecord_files::indexed_tfrecord_files(file_paths paths, bool check_data)
    : paths_(std::move(paths)), first_{0} {
    need_files(paths_, "tfrecords_indexed");
    for (const std::string& path : paths_) {
        bytes_ += io::open_regular_file(path).size;
        if (tfrecord::reader(path, {.buffer_bytes = 0}).where().unpacked)
            throw option_error("records of a compressed file cannot be found by their numbers", path, "gzip or zlib",
                               "a plain file, or tfrecords()");
        files_.emplace_back(path, check_data);
        first_.push_back(first_.back() + static_cast<std::int64_t>(files_.back().size()));
    }
}

inline std::size_t indexed_tfrecord_files::file_of(std::int64_t i) const {
    return static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), i) - first_.begin()) - 1;
}

SINTER_APART span<const std::byte> indexed_tfrecord_files::read(std::int64_t i,
                                                                tfrecord::record_file::buffer& b) const {
    const std::size_t f = file_of(i);
    return files_[f].read(static_cast<std::uint64_t>(i - first_[f]), b);
}

SINTER_APART tfrecord::place indexed_tfrecord_files::where(std::int64_t i) const {
    const std::size_t f = file_of(i);
    return files_[f].where(static_cast<std::uint64_t>(i - first_[f]));
}

SINTER_APART void indexed_tfrecord_files::describe(description& d) const {
    d.stage("records of TFRecord files, by number");
    describe_files(d, paths_, bytes_);
    d("records", size());
}

} // namespace stage_parts

SINTER_SELDOM_BODY tfrecord_stream tfrecords(file_paths paths, tfrecord_options o) {
    return tfrecord_stream(stage_parts::tfrecord_files(std::move(paths), o));
}

SINTER_SELDOM_BODY indexed_tfrecord_stage tfrecords_indexed(file_paths paths, bool check_data) {
    return indexed_tfrecord_stage(
        std::make_shared<const stage_parts::indexed_tfrecord_files>(std::move(paths), check_data));
}
#endif

} // namespace sinter::data
