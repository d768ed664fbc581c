// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/source/csv/structs.hpp>
#include <sinter/data/stages/file_stream.hpp>
#include <sinter/io/unpacked_file.hpp>
#include <array>

namespace sinter::inline SINTER_ORDINARY::data::csv {

/// Of compressed files.
struct packed_options {
    std::uint64_t most_unpacked_bytes = UINT64_MAX;   ///< a file that unpacks to more is refused
};

namespace detail {

/// Files whose columns are known, and how their records become structs. A record travels as the texts of the fields
/// that T has: whoever wants the struct reads the numbers, beside the one who looks for the records' ends.
template <class T>
class row_files {
    struct one_file {
        std::string path;
        std::vector<std::string> names;
        struct_columns<T> columns;
    };
    struct piece {
        std::size_t end;   ///< of the texts
        std::uint64_t line, column;
        bool missing;
    };

public:
    using value_type = T;
    struct ticket {
        std::string texts;   ///< of all pieces
        std::array<piece, static_cast<std::size_t>(base::field_count<T>)> pieces{};   ///< as the file's columns are
        std::int64_t file = 0;
    };

    row_files(file_paths paths, options o, struct_options s, packed_options p)
        : paths_(std::move(paths)), options_(std::move(o)), packed_options_(p), decimal_(s.decimal) {
        stage_parts::need_files(paths_, "csv::stream");
        for (const std::string& path : paths_) {
            io::unpacked_file file(path, 0, p.most_unpacked_bytes);
            const csv::reader in(file, options_);
            files_.push_back({path, in.names(), struct_columns<T>(in.names(), path, s)});
            bytes_ += file.size();
            packed_ = packed_ || file.is_packed();
        }
    }
    std::size_t files() const { return files_.size(); }
    T get(const ticket& k) const {
        const one_file& f = files_[static_cast<std::size_t>(k.file)];
        T to{};
        std::size_t i = 0, begin = 0;
        for (const auto& c : f.columns.all()) {
            const piece& p = k.pieces[i++];
            const std::string_view text = std::string_view(k.texts).substr(begin, p.end - begin);
            c.put(to, {text, p.line, p.column, p.missing}, {&f.path, &f.names[c.column], f.columns.decimal()});
            begin = p.end;
        }
        return to;
    }
    SINTER_COLD void describe(description& d) const {
        d.stage("records of CSV files");
        stage_parts::describe_files(d, paths_, bytes_);
        d("element", type_text<T>())("delimiter", std::string_view(&options_.delimiter, 1));
        d("decimal sign", std::string_view(&decimal_, 1))("header", options_.header)("ragged", options_.ragged);
        d("words for missing values (their hash)", hash_of_words());
        d("goes on", packed_ ? "by reading compressed files from their beginning" : "at a byte of a file");
    }

    class open_file {
    public:
        open_file(const row_files& all, const file_cursor& c)
            : of_(all.files_[static_cast<std::size_t>(c.file)]),
              source_(of_.path, static_cast<std::uint64_t>(c.byte), all.packed_options_.most_unpacked_bytes),
              in_(source_, options_at(all, of_, c)) {}
        bool next(file_cursor& c, ticket& k) {
            bool found = false;
            try {
                found = in_.next();
            } catch (const format_error&) {
                if (in_.can_go_on()) move(c);
                throw;
            }
            if (!found) return false;
            move(c);
            k.file = c.file;
            std::size_t i = 0, end = 0;
            for (const auto& taken : of_.columns.all()) {
                const field& f = field_of(in_.fields(), taken.column, of_.path);
                k.pieces[i++] = {end += f.text.size(), f.line, f.column, f.missing};
            }
            k.texts.clear();
            k.texts.reserve(end);
            for (const auto& taken : of_.columns.all()) k.texts += in_.fields()[taken.column].text;
            return true;
        }

    private:
        const one_file& of_;
        io::unpacked_file source_;
        csv::reader in_;

        static options options_at(const row_files& all, const one_file& f, const file_cursor& c) {
            options o = all.options_;
            if (c.byte == 0) return o;
            o.header = false;
            o.names = f.names;
            o.begin_byte = static_cast<std::uint64_t>(c.byte);
            o.begin_line = static_cast<std::uint64_t>(c.line);
            return o;
        }
        void move(file_cursor& c) const {
            c.byte = static_cast<std::int64_t>(in_.next_byte());
            c.line = static_cast<std::int64_t>(in_.next_line());
            ++c.record;
        }
    };

private:
    file_paths paths_;
    options options_;
    packed_options packed_options_;
    std::vector<one_file> files_;
    std::uint64_t bytes_ = 0;
    bool packed_ = false;
    char decimal_;

    SINTER_COLD std::uint64_t hash_of_words() const {
        std::string all;
        for (const std::string& word : options_.missing) all += word + '\n';
        for (const missing_words& m : options_.missing_in) {
            all += m.column + '\t';
            for (const std::string& word : m.words) all += word + '\n';
        }
        return base::fnv1a(all);
    }
};

} // namespace detail

template <class T>
using row_stream = file_stream<detail::row_files<T>>;

/// The records of CSV files as structs, file after file: a stream.
///
///     struct passenger { float age; std::optional<int> hours_per_week; std::string workclass; };
///     auto train = data::csv::stream<passenger>({"a.csv.gz", "b.csv.gz"}) | data::map(...) | data::batch(64);
///
/// Columns are found by the fields' names, in each file anew, and fields are as csv::struct_reader says, but for
/// std::string_view, whose text would be gone. All files are opened when this is called: data_error then, with the
/// file's name, where a column is missing; io_error where a file cannot be read.
///
/// A damaged record is a format_error with file, line, column and the column's name, as csv::reader and
/// csv::struct_reader have it. After an error about a record whose end is known (another number of fields, a text that
/// is no number) the stream goes on behind it; after others, such as a quote that is nowhere closed, at the next file.
///
/// Going on in the middle opens the file at the byte of the next record. Files may be compressed by gzip, which is seen
/// by their first bytes: going on in one of those unpacks it from its beginning. Memory: one record and 64 KB for each
/// file that is open, and one record for each row of the batches that are being made.
template <class T>
row_stream<T> stream(file_paths paths, options o = {}, struct_options s = {}, packed_options p = {}) {
    static_assert(!detail::has_views<T>, "csv::stream: the text that a field of std::string_view shows ends with its "
                                         "record; needed is std::string");
    return row_stream<T>(detail::row_files<T>(std::move(paths), std::move(o), std::move(s), p));
}

} // namespace sinter::data::csv
