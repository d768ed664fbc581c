// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/source/csv/reader.hpp>
#include <sinter/data/stages/file_paths.hpp>
#include <sinter/io/file.hpp>
#include <memory>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/to_text.hpp>
#include <sinter/io/unpacked_file.hpp>
#include <algorithm>
#endif

namespace sinter::inline SINTER_ORDINARY::data::csv {

/// Where each record of some CSV files lies, found by reading all of them once: 8 bytes of memory for each record, and
/// 8 more where records have lines of their own (quoted line ends, empty lines). The files stay open, and threads may
/// read records of them at the same time.
class record_places {
public:
    /// io_error where a file cannot be read; option_error where one is compressed by gzip, which has no places that
    /// could be gone to; errors of csv::reader for what a file has.
    SINTER_APART record_places(file_paths paths, options o);

    std::int64_t size() const { return size_; }   ///< records in all files
    const file_paths& paths() const { return paths_; }
    const options& read_with() const { return options_; }
    std::uint64_t bytes() const;                  ///< of all files
    const std::vector<std::string>& names(std::size_t file) const { return files_[file].names; }

    /// What one thread holds of the files.
    class held;
    /// The fields of record `i`, good until the next call. io_error, or format_error where the file has changed.
    SINTER_SELDOM const std::vector<field>& read(std::int64_t i, held& h) const;

private:
    static constexpr std::size_t block = std::size_t{1} << 16;   ///< is read at once where records are read in a row

    struct one_file {
        io::opened_file file;
        std::vector<std::string> names;
        std::int64_t first;                  ///< number of its first record
        std::vector<std::uint64_t> begins;   ///< of its records, and where the last one ends
        std::uint64_t first_line;
        std::vector<std::uint64_t> lines;    ///< of its records; empty: one after the other
    };
    file_paths paths_;
    options options_;
    std::vector<one_file> files_;
    std::int64_t size_ = 0;

    SINTER_SELDOM SINTER_COLD one_file find_records(const std::string& path) const;
};

class record_places::held {
    friend record_places;
    struct one_reader {
        io::memory_source source;   ///< of one record
        reader in;
        one_reader(std::string name, options o) : source({}, std::move(name)), in(source, std::move(o)) {}
    };

    std::size_t file_ = SIZE_MAX;   ///< that is read
    std::int64_t last_ = -2;        ///< the record that was read last
    std::vector<std::byte> bytes_;  ///< of that file, from `begin_` on
    std::uint64_t begin_ = 0;
    std::unique_ptr<one_reader> reader_;

public:
    std::size_t file() const { return file_; }   ///< of the record that was read last
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART record_places::record_places(file_paths paths, options o)
    : paths_(std::move(paths)), options_(std::move(o)) {
    stage_parts::need_files(paths_, "csv::rows");
    for (const std::string& path : paths_) {
        files_.push_back(find_records(path));
        files_.back().first = size_;
        size_ += static_cast<std::int64_t>(files_.back().begins.size()) - 1;
    }
}

inline std::uint64_t record_places::bytes() const {
    std::uint64_t all = 0;
    for (const one_file& f : files_) all += f.file.size;
    return all;
}

SINTER_SELDOM_BODY record_places::one_file record_places::find_records(const std::string& path) const {
    one_file f{io::open_regular_file(path), {}, 0, {}, 0, {}};
    io::unpacked_file bytes(path);
    if (bytes.is_packed())
        throw option_error("records of a compressed file have no places that could be gone to", path, "gzip",
                           "csv::stream, or the file unpacked");
    reader in(bytes, options_);
    f.first_line = in.next_line();
    for (std::uint64_t line = f.first_line;; ++line) {
        const bool found = in.next();
        f.begins.push_back(found ? in.offset() : in.next_byte());
        if (!found) break;
        const std::uint64_t own = in.fields().front().line;
        if (f.lines.empty() && own != line)
            for (std::uint64_t l = f.first_line; l < line; ++l) f.lines.push_back(l);
        if (!f.lines.empty() || own != line) f.lines.push_back(own);
    }
    f.names = in.names();
    return f;
}

SINTER_SELDOM_BODY const std::vector<field>& record_places::read(std::int64_t i, held& h) const {
    const auto behind = std::upper_bound(files_.begin(), files_.end(), i,
                                         [](std::int64_t n, const one_file& f) { return n < f.first; });
    const auto number = static_cast<std::size_t>(behind - files_.begin()) - 1;
    const one_file& f = files_[number];
    const auto record = static_cast<std::size_t>(i - f.first);
    const std::uint64_t begin = f.begins[record], end = f.begins[record + 1];
    const bool in_a_row = i == h.last_ + 1;
    if (h.file_ != number) {
        options o = options_;
        o.header = false;
        o.names = f.names;
        o.begin_byte = 1;   // not the beginning of a file, where a byte order mark is left out
        h.reader_ = std::make_unique<held::one_reader>(paths_[number], std::move(o));
        h.bytes_.clear();
        h.file_ = number;
    }
    h.last_ = i;
    if (begin < h.begin_ || end > h.begin_ + h.bytes_.size()) {
        const std::uint64_t ahead = in_a_row ? std::min<std::uint64_t>(begin + block, f.begins.back()) : end;
        const auto n = static_cast<std::size_t>(std::max(end, ahead) - begin);
        h.bytes_.resize(n);
        h.begin_ = begin;
        const std::ptrdiff_t got = base::os::read_up_to_at(f.file.fd.get(), begin, {h.bytes_.data(), n});
        if (got != static_cast<std::ptrdiff_t>(n)) h.bytes_.clear();   // nothing is held
        if (got < 0) io::throw_io_error(errno, "cannot read", to_text({paths_[number], ", byte ", begin}));
        if (static_cast<std::size_t>(got) < n)
            throw io_error("file became shorter while it was read", paths_[number],
                           to_text({begin + static_cast<std::uint64_t>(got), " bytes"}), to_text({f.file.size}));
    }
    h.reader_->source.go_on_with({h.bytes_.data() + (begin - h.begin_), static_cast<std::size_t>(end - begin)});
    reader& in = h.reader_->in;
    in.go_on_at(begin, f.lines.empty() ? f.first_line + record : f.lines[record]);
    if (!in.next() || in.next_byte() > end)
        throw format_error("file has changed since its records were found", paths_[number],
                           to_text({"byte ", begin, ", record ", record}), "the file as it was");
    return in.fields();
}
#endif

} // namespace sinter::data::csv
