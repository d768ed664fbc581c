// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/byte_source.hpp>
#include <sinter/io/printable.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Comma-separated values (RFC 4180), read record by record: nothing but the current one is kept.
namespace sinter::inline SINTER_ORDINARY::data::csv {

/// Words of one column that stand for a missing value there, besides those of all columns.
struct missing_words {
    std::string column;
    std::vector<std::string> words;
};

/// How a CSV file is read.
struct options {
    char delimiter = ',';
    bool header = true;                          ///< the first record names the columns
    std::vector<std::string> names{};            ///< the columns' names where there is no header, or in its place
    std::size_t longest_record = std::size_t{1} << 20;   ///< in bytes; a longer one is refused: a quote is missing, say
    std::size_t most_columns = 4096;
    bool ragged = false;                         ///< records may have any number of fields, whatever the header has
    /// What stands for "not known" in all columns, spaces around it aside. The empty field always
    /// does.
    std::vector<std::string> missing{"?", "NA", "N/A", "NaN", "nan", "null"};
    std::vector<missing_words> missing_in{};     ///< `{{"age", {"-1"}}}`: further words of single columns
};

/// One value as text, without its quotes, and where it begins: both from 1, the column in bytes.
struct field {
    std::string_view text;
    std::uint64_t line = 0;
    std::uint64_t column = 0;
    bool missing = false;   ///< it is empty, or one of the words that say so
};
/// Without spaces and tabs around it.
SINTER_APART std::string_view trimmed(std::string_view text);
/// What stands for `text` in a CSV file: the same, in quotes where it needs them.
SINTER_APART std::string escaped(std::string_view text, char delimiter = ',');
/// "people.csv:12:7", as compilers write it.
inline std::string place(const std::string& file, const field& f) {
    return file + ':' + std::to_string(f.line) + ':' + std::to_string(f.column);
}

/// Where the column `name` stands among `names`; data_error, naming all of them, where it does not.
SINTER_APART std::int64_t find_column(const std::vector<std::string>& names, std::string_view name,
                                      const std::string& file);

/// Records end with CR LF, or LF alone; empty lines are skipped, and so is UTF-8's byte order mark.
/// In quotes a field may hold delimiters, line ends and, doubled, quotes. format_error, with file,
/// line and column, for a quote that is nowhere closed, or stands within a field or before other
/// text; for a record that has more or fewer fields than there are columns; and beyond the options'
/// limits. data_error where `missing_in` names a column that is not there.
class reader {
public:
    /// Reads the header. `source` must outlive this. option_error for an impossible delimiter.
    SINTER_APART explicit reader(io::byte_source& source, options o = {});

    const std::string& file() const { return in_.name(); }
    /// The columns' names; without header and given ones, "0", "1", ... once the first record has
    /// been read.
    const std::vector<std::string>& names() const { return names_; }
    /// Goes to the next record; false at the end.
    SINTER_APART bool next();
    /// The current record's fields, good until next().
    const std::vector<field>& fields() const { return fields_; }

private:
    static constexpr std::size_t chunk = 1 << 16;
    static constexpr int end_of_file = -1;

    io::byte_source& in_;
    options options_;
    std::unique_ptr<std::byte[]> buffer_;
    std::size_t at_ = 0, filled_ = 0;
    std::uint64_t line_ = 1, column_ = 1;   // of the next byte
    std::string text_;                      // the record's, without quotes
    std::vector<std::size_t> begins_;       // of each field in text_
    std::vector<field> fields_;
    std::vector<std::string> names_;
    std::vector<std::size_t> missing_in_;   // the columns of options_.missing_in

    SINTER_APART int peek();
    SINTER_APART int take();
    SINTER_APART void keep(int c);
    [[noreturn]] SINTER_APART void refuse(const char* what, std::uint64_t column, std::string needed) const;
    /// Takes the end of a record: true if one is here.
    SINTER_APART bool take_end();
    SINTER_APART void begin_field();
    SINTER_APART bool read_record();
    SINTER_APART bool at_end_of_field();
    SINTER_APART void unquoted();
    SINTER_APART void quoted_text();
    SINTER_APART void find_missing_in();
    SINTER_APART static bool among(const std::vector<std::string>& words, std::string_view text);
    SINTER_APART void mark_missing();
    SINTER_APART void check_count() const;
};

#if SINTER_BODIES
SINTER_APART std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

SINTER_APART std::string escaped(std::string_view text, char delimiter) {
    const char special[] = {'"', '\r', '\n', delimiter};
    if (text.find_first_of({special, sizeof special}) == text.npos) return std::string(text);
    std::string out = "\"";
    for (const char c : text) (out += c) += c == '"' ? "\"" : "";
    return out += '"';
}

SINTER_APART std::int64_t find_column(const std::vector<std::string>& names, std::string_view name,
                                      const std::string& file) {
    std::string all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<std::int64_t>(i);
        all += (all.empty() ? "" : ", ") + names[i];
    }
    throw data_error("no such column", file, io::printable(name), "one of " + io::printable(all, 400));
}

SINTER_APART reader::reader(io::byte_source& source, options o)
    : in_(source), options_(std::move(o)), buffer_(std::make_unique<std::byte[]>(chunk)) {
    const char d = options_.delimiter;
    if (d == '"' || d == '\r' || d == '\n' || d == '\0')
        throw option_error("impossible delimiter", "csv", io::printable({&d, 1}),
                           "a character other than quotes and line ends");
    peek();
    constexpr std::byte mark[] = {std::byte{0xef}, std::byte{0xbb}, std::byte{0xbf}};
    if (filled_ >= sizeof mark && std::memcmp(buffer_.get(), mark, sizeof mark) == 0) at_ = sizeof mark;
    if (options_.header && !read_record())
        throw format_error("no header", in_.name(), "an empty file", "the columns' names");
    names_ = options_.names;
    if (names_.empty())
        for (const field& f : fields_) names_.emplace_back(f.text);
    else if (options_.header) check_count();
    for (std::size_t i = 0; i < names_.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (names_[i] == names_[k])
                throw format_error("two columns of one name", in_.name(), io::printable(names_[i]),
                                   "names that differ");
    if (!names_.empty()) find_missing_in();
}

SINTER_APART bool reader::next() {
    if (!read_record()) return false;
    if (names_.empty()) {
        for (std::size_t i = 0; i < fields_.size(); ++i) names_.push_back(std::to_string(i));
        find_missing_in();
    }
    check_count();
    mark_missing();
    return true;
}

SINTER_APART int reader::peek() {
    if (at_ == filled_) {
        at_ = 0;
        filled_ = in_.read_up_to({buffer_.get(), chunk});
        if (filled_ == 0) return end_of_file;
    }
    return std::to_integer<int>(buffer_[at_]);
}

SINTER_APART int reader::take() {
    const int c = peek();
    if (c == end_of_file) return c;
    ++at_;
    ++column_;
    if (c == '\n') ++line_, column_ = 1;
    return c;
}

SINTER_APART void reader::keep(int c) {
    if (text_.size() >= options_.longest_record) {
        const field& first = fields_.front();
        throw format_error("a record is too long", place(in_.name(), first), {},
                           "at most " + std::to_string(options_.longest_record) + " bytes: is a quote missing?");
    }
    text_ += static_cast<char>(c);
}

SINTER_APART void reader::refuse(const char* what, std::uint64_t column, std::string needed) const {
    throw format_error(what, in_.name() + ':' + std::to_string(line_) + ':' + std::to_string(column), {},
                       std::move(needed));
}

SINTER_APART bool reader::take_end() {
    int c = peek();
    if (c == '\r') {
        take();
        c = peek();
        if (c != '\n' && c != end_of_file) 
            refuse("a carriage return within a field", column_ - 1, "a line feed after it, or quotes");
    }
    if (c == '\n') take();
    return c == '\n' || c == end_of_file;
}

SINTER_APART void reader::begin_field() {
    if (fields_.size() == options_.most_columns)
        refuse("too many columns", column_, "at most " + std::to_string(options_.most_columns));
    fields_.push_back({{}, line_, column_});
    begins_.push_back(text_.size());
}

SINTER_APART bool reader::read_record() {
    text_.clear();
    fields_.clear();
    begins_.clear();
    while (peek() == '\n' || peek() == '\r') take_end();
    if (peek() == end_of_file) return false;
    do {
        begin_field();
        if (peek() == '"') quoted_text();
        else unquoted();
    } while (!take_end() && take() != end_of_file);   // what else ends a field is the delimiter
    begins_.push_back(text_.size());
    for (std::size_t i = 0; i < fields_.size(); ++i)   // only now: text_ has moved while it grew
        fields_[i].text = std::string_view(text_).substr(begins_[i], begins_[i + 1] - begins_[i]);
    return true;
}

SINTER_APART bool reader::at_end_of_field() {
    const int c = peek();
    return c == end_of_file || c == '\n' || c == '\r' || c == static_cast<unsigned char>(options_.delimiter);
}

SINTER_APART void reader::unquoted() {
    while (!at_end_of_field()) {
        if (peek() == '"')
            refuse("a quote within a field", column_, "quotes around the whole field, this one doubled");
        keep(take());
    }
}

SINTER_APART void reader::quoted_text() {
    take();
    for (;;) {
        const int c = take();
        if (c == end_of_file)
            throw format_error("a quote is not closed", place(in_.name(), fields_.back()), "the end of the file",
                               "a closing quote");
        if (c == '"' && peek() != '"') break;
        if (c == '"') take();
        keep(c);
    }
    if (!at_end_of_field()) refuse("text after a closing quote", column_, "a delimiter or the end of the line");
}

SINTER_APART void reader::find_missing_in() {
    for (const missing_words& m : options_.missing_in)
        missing_in_.push_back(static_cast<std::size_t>(find_column(names_, m.column, in_.name())));
}

SINTER_APART bool reader::among(const std::vector<std::string>& words, std::string_view text) {
    for (const std::string& w : words)
        if (w == text) return true;
    return false;
}

SINTER_APART void reader::mark_missing() {
    for (field& f : fields_) {
        const std::string_view text = trimmed(f.text);
        f.missing = text.empty() || among(options_.missing, text);
    }
    for (std::size_t i = 0; i < missing_in_.size(); ++i)
        if (missing_in_[i] < fields_.size()) {
            field& f = fields_[missing_in_[i]];
            f.missing = f.missing || among(options_.missing_in[i].words, trimmed(f.text));
        }
}

SINTER_APART void reader::check_count() const {
    if (options_.ragged || fields_.size() == names_.size()) return;
    throw format_error("a record has another number of fields", place(in_.name(), fields_.front()),
                       std::to_string(fields_.size()), std::to_string(names_.size()) + ", as there are columns");
}
#endif

} // namespace sinter::data::csv
