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
#if SINTER_BODIES
#include <sinter/data/source/csv/marks.hpp>
#include <algorithm>
#include <cstring>
#endif

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
    /// Where the source stands: at byte 0, or at a record's first byte, as reader::next_byte() and next_line() say.
    /// From within a file there is no header any more.
    std::uint64_t begin_byte = 0, begin_line = 1;
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

    /// Of the current record, in bytes from the beginning of the source.
    std::uint64_t offset() const { return base_ + record_; }
    /// Where another reader begins to go on behind the current record.
    std::uint64_t next_byte() const { return base_ + at_; }
    std::uint64_t next_line() const { return line_; }
    /// From now on the source gives the bytes from this one of the file on, the first of a record in this line.
    SINTER_SELDOM void go_on_at(std::uint64_t byte, std::uint64_t line);
    /// After an error of next(): whether it was about a record that was read to its end, so that next() goes on behind.
    bool can_go_on() const { return whole_; }

private:
    static constexpr std::size_t chunk = 1 << 16, block = 64;   // blocks of bytes are searched at once

    io::byte_source& in_;
    options options_;
    // What was read and is still needed: from `record_` on, and a block more than `filled_` that may be searched.
    std::unique_ptr<char[]> buffer_;
    std::size_t room_ = 0, filled_ = 0, at_ = 0, record_ = 0;
    std::uint64_t base_ = 0;                       // of buffer_[0] in the source
    bool over_ = false;                            // the source has no more
    bool whole_ = false;                           // the record was read to its end
    std::size_t marked_ = 0;                       // the block that `marks_` are of
    std::uint64_t marks_ = 0;
    std::uint64_t line_ = 1, line_begins_ = 0;     // the line of the next byte, and where in the source it begins
    std::size_t kept_ = 0;                         // bytes of the record's texts so far
    struct piece { std::size_t begin, size; bool unescaped; };
    std::vector<piece> pieces_;                    // of each field: in buffer_, or in unescaped_
    std::string unescaped_;                        // the texts that had doubled quotes
    std::vector<field> fields_;
    std::vector<std::string> names_;
    std::vector<std::size_t> missing_in_;          // the columns of options_.missing_in
    bool may_be_missing_[256] = {};                // by a text's first byte

    SINTER_APART bool refill();
    SINTER_APART bool has(std::size_t i);
    SINTER_APART std::size_t mark_from(std::size_t i);
    std::uint64_t column_of(std::size_t i) const { return base_ + i - line_begins_ + 1; }
    [[noreturn]] SINTER_APART void refuse(const char* what, std::uint64_t column, std::string needed) const;
    SINTER_APART bool take_end();
    SINTER_APART void begin_field();
    SINTER_APART void keep(std::size_t bytes);
    SINTER_APART bool read_record();
    SINTER_APART bool read_plain_record();
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
    : in_(source), options_(std::move(o)), base_(options_.begin_byte), line_(options_.begin_line), line_begins_(base_) {
    const char d = options_.delimiter;
    if (d == '"' || d == '\r' || d == '\n' || d == '\0')
        throw option_error("impossible delimiter", "csv", io::printable({&d, 1}),
                           "a character other than quotes and line ends");
    for (const std::string& word : options_.missing)
        if (!word.empty()) may_be_missing_[static_cast<unsigned char>(word[0])] = true;
    for (const char c : {' ', '\t'}) may_be_missing_[static_cast<unsigned char>(c)] = true;
    if (constexpr std::string_view mark = "\xef\xbb\xbf"; base_ == 0 && has(mark.size() - 1) &&
                                                          std::string_view(buffer_.get(), mark.size()) == mark)
        at_ = line_begins_ = mark.size();
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

SINTER_SELDOM_BODY void reader::go_on_at(std::uint64_t byte, std::uint64_t line) {
    filled_ = at_ = record_ = 0;
    base_ = line_begins_ = byte;
    line_ = line;
    over_ = false;
    marked_ = SIZE_MAX;
}

/// Reads more behind what is there, which moves to the front; false at the end of the source.
SINTER_APART bool reader::refill() {
    if (over_) return false;
    const std::size_t needed = filled_ - record_;
    if (needed + chunk > room_) {
        const std::size_t room = std::max(2 * room_, needed + chunk);
        auto larger = std::make_unique_for_overwrite<char[]>(room + block);
        if (needed > 0) std::memcpy(larger.get(), buffer_.get() + record_, needed);
        buffer_ = std::move(larger);
        room_ = room;
    } else if (record_ > 0) {
        std::memmove(buffer_.get(), buffer_.get() + record_, needed);
    }
    for (piece& p : pieces_)
        if (!p.unescaped) p.begin -= record_;
    at_ -= record_;
    base_ += record_;
    record_ = 0;
    filled_ = needed;
    const std::size_t got = in_.read_some({reinterpret_cast<std::byte*>(buffer_.get()) + filled_, room_ - filled_});
    filled_ += got;
    over_ = got == 0;
    std::memset(buffer_.get() + filled_, 0, block);   // no mark of before
    marked_ = SIZE_MAX;
    return !over_;
}

/// Whether there is a byte at `at_ + i`.
SINTER_APART bool reader::has(std::size_t i) {
    while (at_ + i >= filled_)
        if (!refill()) return false;
    return true;
}

/// Where the next delimiter, quote or line end is, not before at_ + i, counted from at_; the end of the source where
/// there is none.
SINTER_APART std::size_t reader::mark_from(std::size_t i) {
    for (;;) {
        if (!has(i)) return filled_ - at_;
        std::size_t b = (at_ + i) / block;
        if (b != marked_) marks_ = detail::marks_of(buffer_.get() + block * b, options_.delimiter), marked_ = b;
        std::uint64_t found = marks_ & ~std::uint64_t{0} << (at_ + i) % block;
        while (found == 0 && block * (b + 1) < filled_) {
            marks_ = found = detail::marks_of(buffer_.get() + block * ++b, options_.delimiter);
            marked_ = b;
        }
        if (const auto k = static_cast<std::size_t>(__builtin_ctzll(found | std::uint64_t{1} << 63));
            found != 0 && block * b + k < filled_)
            return block * b + k - at_;
        i = filled_ - at_;
        if (i > options_.longest_record) return i;   // whoever asked refuses it, before more is read
    }
}

SINTER_APART void reader::refuse(const char* what, std::uint64_t column, std::string needed) const {
    throw format_error(what, in_.name() + ':' + std::to_string(line_) + ':' + std::to_string(column), {},
                       std::move(needed));
}

/// Takes the end of a record: true if one is here.
SINTER_APART bool reader::take_end() {
    if (has(0) && buffer_[at_] == '\r') {
        if (has(1) && buffer_[at_ + 1] != '\n')
            refuse("a carriage return within a field", column_of(at_), "a line feed after it, or quotes");
        ++at_;
    }
    if (!has(0)) return true;
    if (buffer_[at_] != '\n') return false;
    ++at_;
    ++line_;
    line_begins_ = base_ + at_;
    return true;
}

SINTER_APART void reader::begin_field() {
    if (fields_.size() == options_.most_columns)
        refuse("too many columns", column_of(at_), "at most " + std::to_string(options_.most_columns));
    fields_.push_back({{}, line_, column_of(at_)});
    pieces_.push_back({at_, 0, false});
}

/// So many bytes more belong to the record's texts.
SINTER_APART void reader::keep(std::size_t bytes) {
    kept_ += bytes;
    if (kept_ > options_.longest_record)
        throw format_error("a record is too long", place(in_.name(), fields_.front()), {},
                           "at most " + std::to_string(options_.longest_record) + " bytes: is a quote missing?");
}

SINTER_APART bool reader::read_record() {
    fields_.clear();
    pieces_.clear();
    unescaped_.clear();
    kept_ = 0;
    whole_ = false;
    for (;;) {
        record_ = at_;
        if (!has(0)) return false;
        if (buffer_[at_] != '\n' && buffer_[at_] != '\r') break;
        take_end();
    }
    if (read_plain_record()) return true;
    for (;;) {
        begin_field();
        if (has(0) && buffer_[at_] == '"') quoted_text();
        else unquoted();
        if (take_end()) break;
        ++at_;   // what else ends a field is the delimiter
    }
    whole_ = true;
    for (std::size_t i = 0; i < fields_.size(); ++i) {   // only now: the buffer has moved while more was read
        const piece& p = pieces_[i];
        fields_[i].text = {(p.unescaped ? unescaped_.data() : buffer_.get()) + p.begin, p.size};
    }
    return true;
}

/// A record without quotes, and with its end, that lies whole in the buffer, as most do, from mark to mark. False: it
/// is none, or there is something wrong with it, which read_record() finds field by field; nothing has changed.
SINTER_APART bool reader::read_plain_record() {
    const char* const text = buffer_.get();
    std::size_t begin = at_, b = at_ / block;
    if (b != marked_) marks_ = detail::marks_of(text + block * b, options_.delimiter), marked_ = b;
    std::uint64_t marks = marks_ & ~std::uint64_t{0} << at_ % block;
    for (;;) {
        while (marks == 0) {
            if (block * ++b >= filled_) return fields_.clear(), false;
            marks_ = marks = detail::marks_of(text + block * b, options_.delimiter);
            marked_ = b;
        }
        const std::size_t at = block * b + static_cast<std::size_t>(__builtin_ctzll(marks));
        marks &= marks - 1;
        const char c = at < filled_ ? text[at] : '"';
        if (c == '"' || fields_.size() == options_.most_columns) break;
        fields_.push_back({{text + begin, at - begin}, line_, column_of(begin)});
        begin = at + 1;
        if (c == options_.delimiter) continue;
        if (c == '\r' && (begin == filled_ || text[begin++] != '\n')) break;
        if (begin - record_ > options_.longest_record) break;   // it may have this many without ends and delimiters
        at_ = begin;
        ++line_;
        line_begins_ = base_ + at_;
        return whole_ = true;
    }
    fields_.clear();
    return false;
}

SINTER_APART void reader::unquoted() {
    const std::size_t n = mark_from(0);
    keep(n);
    if (at_ + n < filled_ && buffer_[at_ + n] == '"')
        refuse("a quote within a field", column_of(at_ + n), "quotes around the whole field, this one doubled");
    pieces_.back().size = n;
    at_ += n;
}

SINTER_APART void reader::quoted_text() {
    piece p{at_ + 1, 0, false};
    pieces_.back() = p;   // refill() moves it
    ++at_;
    std::size_t i = 0;   // from at_: what was looked at
    const auto unescape = [&](std::size_t n) {   // the first n bytes from at_ on, and a quote
        piece& own = pieces_.back();
        if (!own.unescaped) own = {unescaped_.size(), 0, true};
        unescaped_.append(buffer_.get() + at_, n);
        own.size += n;
    };
    for (;;) {
        i = mark_from(i);
        if (!has(i)) {
            throw format_error("a quote is not closed", place(in_.name(), fields_.back()), "the end of the file",
                               "a closing quote");
        }
        const char c = buffer_[at_ + i];
        if (c == '\n') {
            ++line_;
            line_begins_ = base_ + at_ + i + 1;
        }
        if (c != '"') {
            ++i;
            if (kept_ + i > options_.longest_record) keep(i);
            continue;
        }
        if (!has(i + 1) || buffer_[at_ + i + 1] != '"') break;
        keep(i + 1);
        unescape(i + 1);   // with the first of the two quotes
        at_ += i + 2;
        i = 0;
    }
    keep(i);
    if (pieces_.back().unescaped) unescape(i);
    else pieces_.back().size = i;
    at_ += i + 1;
    if (has(0) && buffer_[at_] != options_.delimiter && buffer_[at_] != '\n' && buffer_[at_] != '\r')
        refuse("text after a closing quote", column_of(at_), "a delimiter or the end of the line");
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
        if (!f.text.empty() && !may_be_missing_[static_cast<unsigned char>(f.text[0])]) continue;
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
