// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/features.hpp>
#if SINTER_BODIES
#include <sinter/io/atomic_write.hpp>
#include <charconv>
#include <cmath>
#endif

/// Features as a file, with all that they have learned: what was done to the training data can then
/// be done to other data, in another program.
namespace sinter::inline SINTER_ORDINARY::data {

/// The file is CSV itself, a record for each feature: what it is, its column, its numbers, its
/// words. A mean that was not learned is an empty field. The last record has the number of those before it, and no
/// end of line, so that a file that was cut anywhere is known by it.
class feature_file {
public:
    /// What a file has; text() is the same without the end, as older files have it, and is read as well.
    SINTER_APART static std::string whole_text(const features& f);
    /// option_error where they have not learned what they need: whoever reads it would not know.
    SINTER_APART static std::string text(const features& f);
    /// format_error, with file, line and column, for anything that text() does not write.
    SINTER_APART static features parse(io::byte_source& in);

private:
    static constexpr const char* first_line_of_files = "sinter features,3";
    static constexpr const char* first_line = "sinter features,2";   // of before: without an end
    static constexpr const char* first_line_of_floats =
        "sinter features,1";   // boundaries were floats, and so compared
    static constexpr std::size_t most_items = 4096;
    static constexpr const char* names[] = {"bucketized", "quantiles", "vocabulary", "hashed", "crossed"};

    SINTER_APART static std::string digits(double x);
    SINTER_APART static std::string line(const char* what, const numeric& n);
    SINTER_APART static std::string lines(const std::string& what, const categories& c);

    /// Goes through a record's fields.
    class cursor {
    public:
        bool floats = false;   ///< of an older file, whose boundaries were floats

        explicit cursor(csv::reader& in) : in_(in) {}
        SINTER_APART bool next_line();
        int lines() const { return lines_ - 1; }   ///< behind the first
        SINTER_APART std::string word();
        SINTER_APART bool skips_empty();
        SINTER_APART double number(double least, double most);
        SINTER_APART int whole(int least, int most);
        SINTER_APART std::string rest();
        std::size_t left() const { return in_.fields().size() - at_; }
        [[noreturn]] SINTER_APART void refuse(const char* what, const std::string& needed, std::size_t back = 0) const;

    private:
        csv::reader& in_;
        std::size_t at_ = 0;
        int lines_ = 0;
    };
    /// The first double that is `b` or more as a float: with it as a boundary all numbers fall
    /// where they fell when they were compared as floats.
    SINTER_APART static double least_that_rounds_to(float b);
    SINTER_APART static numeric read_numeric(cursor& at);
    SINTER_APART static categories read_categories(cursor& at, bool may_cross);
};

/// Writes the whole file or, with an io_error, leaves what was there.
SINTER_APART void save(const features& f, const std::string& path);
/// io_error where the file cannot be read, format_error where it is none of save's.
SINTER_APART features load_features(const std::string& path);

#if SINTER_BODIES
SINTER_APART std::string feature_file::whole_text(const features& f) {
    std::size_t records = f.has_label() ? 1 + f.label_.parts.size() : 0;
    if (f.has_target()) ++records;
    for (const features::item& i : f.items_) records += 1 + i.classes.parts.size();
    const std::string s = text(f);
    return first_line_of_files + s.substr(s.find('\n')) + "end," + std::to_string(records);
}

SINTER_APART std::string feature_file::text(const features& f) {
    f.need_fitted("save");
    std::string s = first_line + std::string("\n");
    for (const features::item& i : f.items_)
        if (i.form == features::kind::number) s += line("number", i.value);
        else s += lines(i.form == features::kind::index ? "index" : "indicator", i.classes);
    if (f.has_label()) s += lines("label", f.label_);
    if (f.has_target()) s += line("target", f.target_);
    return s;
}

SINTER_APART features feature_file::parse(io::byte_source& in) {
    csv::reader reader(in, {.header = false, .most_columns = categories::most, .ragged = true});
    cursor at(reader);
    const std::string head = at.next_line() ? at.rest() : "";
    at.floats = head == first_line_of_floats;
    const bool has_end = head == first_line_of_files;
    if (head != first_line && !at.floats && !has_end) at.refuse("not a file of features", first_line_of_files);
    bool ended = false;
    features f;
    f.fitted_ = true;
    std::int64_t wide = 0;
    while (at.next_line()) {
        if (ended) at.refuse("more than the end of the file", "end, a number, and nothing else");
        const std::string what = at.word();
        if (what == "end" && has_end) {
            if (at.whole(0, categories::most) != at.lines() - 1)
                at.refuse("the file was cut: not as many records as were written",
                          std::to_string(at.lines() - 1), 1);
            ended = true;
        } else if (what == "number" || what == "target") {
            numeric n = read_numeric(at);
            if (what == "number") f.items_.push_back({features::kind::number, std::move(n), {}});
            else f.target_ = std::move(n);
        } else if (what == "indicator" || what == "index") {
            const auto form = what == "index" ? features::kind::index : features::kind::indicator;
            f.items_.push_back({form, {}, read_categories(at, true)});
        } else if (what == "label") {
            f.label_ = read_categories(at, true);
            if (f.label_.words.empty()) at.refuse("a label without classes", "a vocabulary");
        } else {
            at.refuse("unknown feature", "number, indicator, index, label or target");
        }
        if (f.has_label() && f.has_target()) at.refuse("a label and a target", "one of them");
        if (f.items_.size() > most_items) at.refuse("too many features", "at most " + std::to_string(most_items));
        if (!f.items_.empty() && f.items_.back().form == features::kind::indicator)
            wide += f.items_.back().classes.size;
        if (wide > categories::most) at.refuse("too many indicators", "at most 2^24 in all");
    }
    if (has_end && !ended) at.refuse("the file was cut", "the line that begins with end");
    return f;
}

SINTER_APART std::string feature_file::digits(double x) {   // the shortest that read back as the same number
    char s[40];
    return {s, std::to_chars(s, s + sizeof s, x).ptr};
}

SINTER_APART std::string feature_file::line(const char* what, const numeric& n) {
    std::string s = what + (',' + csv::escaped(n.column));
    for (const bool o : {n.options.logarithm, n.options.standardise, n.options.tell_missing}) s += o ? ",1" : ",0";
    return s + ',' + (n.mean == n.mean ? digits(n.mean) : "") + ',' + digits(n.deviation) + '\n';
}

SINTER_APART std::string feature_file::lines(const std::string& what, const categories& c) {
    std::string s = what + ',' + names[static_cast<int>(c.form)] + ',' + csv::escaped(c.column) + ',' +
                    std::to_string(c.size) + (c.learns ? ",1," : ",0,");
    s += std::to_string(c.boundaries.size() + c.words.size() + c.parts.size());
    for (const double b : c.boundaries) s += ',' + digits(b);
    for (const std::string& w : c.words) s += ',' + csv::escaped(w);
    s += '\n';
    for (const categories& p : c.parts) s += lines("part", p);
    return s;
}

SINTER_APART bool feature_file::cursor::next_line() {
    if (at_ < in_.fields().size()) refuse("more than was expected", "the end of the line");
    at_ = 0;
    const bool more = in_.next();
    lines_ += more;
    return more;
}

SINTER_APART std::string feature_file::cursor::word() {
    if (at_ >= in_.fields().size()) refuse("a line is too short", "another field");
    return std::string(in_.fields()[at_++].text);
}

SINTER_APART bool feature_file::cursor::skips_empty() {
    const bool empty = left() > 0 && in_.fields()[at_].text.empty();
    at_ += empty;
    return empty;
}

SINTER_APART double feature_file::cursor::number(double least, double most) {
    const std::string s = word();
    double x = 0;
    const auto [end, fault] = std::from_chars(s.data(), s.data() + s.size(), x);
    if (fault != std::errc{} || end != s.data() + s.size() || !(x >= least && x <= most))
        refuse("a number cannot be used", digits(least) + " to " + digits(most), 1);
    return x;
}

SINTER_APART int feature_file::cursor::whole(int least, int most) {
    const double x = number(least, most);
    if (x != static_cast<int>(x)) refuse("a number is not whole", "a whole number", 1);
    return static_cast<int>(x);
}

SINTER_APART std::string feature_file::cursor::rest() {
    std::string all;
    while (at_ < in_.fields().size()) all += (all.empty() ? "" : ",") + word();
    return all;
}

SINTER_APART void feature_file::cursor::refuse(const char* what, const std::string& needed, std::size_t back) const {
    const auto& all = in_.fields();
    if (all.empty()) throw format_error(what, in_.file(), "the end of the file", needed);
    const csv::field& f = all[std::min(at_ - back, all.size() - 1)];
    throw format_error(what, csv::place(in_.file(), f), io::printable(f.text, 40), needed);
}

SINTER_APART double feature_file::least_that_rounds_to(float b) {
    const double below = static_cast<double>(std::nextafter(b, -std::numeric_limits<float>::infinity()));
    const double middle =
        std::isfinite(below) ? below + (static_cast<double>(b) - below) / 2 : static_cast<double>(b);
    return static_cast<float>(middle) == b ? middle
                                           : std::nextafter(middle, std::numeric_limits<double>::infinity());
}

SINTER_APART numeric feature_file::read_numeric(cursor& at) {
    constexpr double most = 3.5e38;
    numeric n;
    n.column = at.word();
    n.options = {at.whole(0, 1) == 1, at.whole(0, 1) == 1, at.whole(0, 1) == 1};
    if (n.options.standardise || !at.skips_empty()) n.mean = at.number(-most, most);
    n.deviation = at.number(0, most);
    if (n.deviation == 0) at.refuse("a deviation of zero", "a positive number", 1);
    return n;
}

SINTER_APART categories feature_file::read_categories(cursor& at, bool may_cross) {
    using kind = categories::kind;
    categories c;
    const std::string form = at.word();
    int k = 0;
    while (k < 5 && form != names[k]) ++k;
    if (k == 5 || (k == 4 && !may_cross))
        at.refuse("unknown categories", "one of bucketized, quantiles, vocabulary, hashed, crossed", 1);
    c.form = static_cast<kind>(k);
    c.column = at.word();
    c.size = at.whole(1, categories::most);
    c.learns = at.whole(0, 1) == 1;
    const int n = at.whole(0, categories::most);
    const bool numbers = c.form == kind::bucketized || c.form == kind::quantiles;
    const bool fits = numbers                      ? n + 2 <= c.size || (c.learns && n < c.size)
                      : c.form == kind::vocabulary ? n < c.size
                      : c.form == kind::crossed    ? n >= 2 && n <= 64
                                                   : n == 0;
    if (!fits || (c.form != kind::crossed && static_cast<std::size_t>(n) != at.left()))
        at.refuse("a number of values that does not fit", "as many as follow, and as there are categories for", 1);
    for (int i = 0; i < n && numbers; ++i) {
        const double most = at.floats ? 3.4028234e38 : std::numeric_limits<double>::max();
        const double b = at.number(-most, most);
        c.boundaries.push_back(at.floats ? least_that_rounds_to(static_cast<float>(b)) : b);
        if (i && !(c.boundaries[static_cast<std::size_t>(i) - 1] < c.boundaries.back()))
            at.refuse("boundaries must ascend", "a larger one", 1);
    }
    for (int i = 0; i < n && c.form == kind::vocabulary; ++i) c.words.push_back(at.word());
    for (int i = 0; i < n && c.form == kind::crossed; ++i) {
        if (!at.next_line() || at.word() != "part")
            at.refuse("a part is missing", "a line that begins with part", 1);
        c.parts.push_back(read_categories(at, false));
    }
    c.number_words();
    return c;
}

SINTER_APART void save(const features& f, const std::string& path) {
    io::atomic_write(path, [&](io::output_file& file) { file.write(feature_file::whole_text(f)); });
}

SINTER_APART features load_features(const std::string& path) {
    io::input_file file(path);
    return feature_file::parse(file);
}
#endif

} // namespace sinter::data
