// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/source/csv/number.hpp>
#if SINTER_BODIES
#include <sinter/io/file.hpp>
#include <sinter/io/gzip.hpp>
#endif

namespace sinter::inline SINTER_ORDINARY::data::csv {

/// A whole CSV file in memory, as the texts that it holds: what they mean is for those to say who
/// ask (features.hpp).
class table {
public:
    /// The rest of what `in` reads. format_error for a record of a `ragged` file that has not a field
    /// for each column.
    SINTER_APART explicit table(reader& in);

    const std::string& file() const { return file_; }
    const std::vector<std::string>& names() const { return names_; }
    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return static_cast<std::int64_t>(names_.size()); }
    /// The column of this name; data_error, with the names that there are, where there is none.
    std::int64_t column(std::string_view name) const { return find_column(names_, name, file_); }

    SINTER_APART field at(std::int64_t row, std::int64_t column) const;
    /// A row's fields; `into` is overwritten.
    SINTER_APART span<const field> row(std::int64_t row, std::vector<field>& into) const;
    /// A column as numbers, NaN where one is missing; format_error as number() where one is none.
    /// Doubles: what makes floats of them (data/standardised.hpp) can first take off what they have
    /// in common.
    SINTER_APART std::vector<double> numbers(std::string_view name) const;

private:
    struct cell {
        std::size_t begin;   // in text_
        std::uint64_t line, column;
        bool missing;
    };
    std::string file_, text_;
    std::vector<std::string> names_;
    std::vector<cell> cells_;   // row by row, and one more that ends the last
    std::int64_t rows_ = 0;
};

/// The CSV file at `path`, plain or gzip. io_error where it cannot be read, format_error as
/// csv::reader.
SINTER_APART table read(const std::string& path, const options& o = {});
/// CSV that lies in memory; `name` is what errors call it.
SINTER_APART table parse(std::string_view text, const std::string& name, const options& o = {});

#if SINTER_BODIES
SINTER_APART table::table(reader& in)
    : file_(in.file()) {
    while (in.next()) {
        if (in.fields().size() != in.names().size())
            throw format_error("a record has another number of fields", place(file_, in.fields()[0]),
                               std::to_string(in.fields().size()),
                               std::to_string(in.names().size()) + ": a table has as many in each row");
        for (const field& f : in.fields()) {
            cells_.push_back({text_.size(), f.line, f.column, f.missing});
            text_ += f.text;
        }
        ++rows_;
    }
    names_ = in.names();
    cells_.push_back({text_.size(), 0, 0, true});
}

SINTER_APART field table::at(std::int64_t row, std::int64_t column) const {
    const std::size_t i = static_cast<std::size_t>(row) * names_.size() + static_cast<std::size_t>(column);
    const cell &a = cells_[i], &b = cells_[i + 1];
    return {std::string_view(text_).substr(a.begin, b.begin - a.begin), a.line, a.column, a.missing};
}

SINTER_APART span<const field> table::row(std::int64_t row, std::vector<field>& into) const {
    into.clear();
    for (std::int64_t c = 0; c < columns(); ++c) into.push_back(at(row, c));
    return into;
}

SINTER_APART std::vector<double> table::numbers(std::string_view name) const {
    const std::int64_t c = column(name);
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(rows_));
    for (std::int64_t r = 0; r < rows_; ++r)
        values.push_back(number(at(r, c), file_, names_[static_cast<std::size_t>(c)]));
    return values;
}

SINTER_APART table read(const std::string& path, const options& o) {
    io::input_file file(path);
    io::gzip_source plain(file);
    reader in(plain, o);
    return table(in);
}

SINTER_APART table parse(std::string_view text, const std::string& name, const options& o) {
    io::memory_source source(as_bytes(text), name);
    reader in(source, o);
    return table(in);
}
#endif

} // namespace sinter::data::csv
