// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/features.hpp>
#include <sinter/io/atomic_write.hpp>
#include <cmath>

/// Features as a file, with all that they have learned: what was done to the training data can then
/// be done to other data, in another program.
namespace sinter::inline SINTER_ORDINARY::data {

/// The file is CSV itself, a record for each feature: what it is, its column, its numbers, its
/// words. A mean that was not learned is an empty field. The last record has the number of those before it, and no
/// end of line, so that a file that was cut anywhere is known by it.
class feature_file {
public:
    /// What a file has; text() is the same without the end, as older files have it, and is read as well.
    static std::string whole_text(const features& f) {
        std::size_t records = f.has_label() ? 1 + f.label_.parts.size() : 0;
        if (f.has_target()) ++records;
        for (const features::item& i : f.items_) records += 1 + i.classes.parts.size();
        const std::string s = text(f);
        return first_line_of_files + s.substr(s.find('\n')) + "end," + std::to_string(records);
    }
    /// option_error where they have not learned what they need: whoever reads it would not know.
    static std::string text(const features& f) {
        f.need_fitted("save");
        std::string s = first_line + std::string("\n");
        for (const features::item& i : f.items_)
            if (i.form == features::kind::number) s += line("number", i.value);
            else s += lines(i.form == features::kind::index ? "index" : "indicator", i.classes);
        if (f.has_label()) s += lines("label", f.label_);
        if (f.has_target()) s += line("target", f.target_);
        return s;
    }
    /// format_error, with file, line and column, for anything that text() does not write.
    static features parse(io::byte_source& in) {
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

private:
    static constexpr const char* first_line_of_files = "sinter features,3";
    static constexpr const char* first_line = "sinter features,2";   // of before: without an end
    static constexpr const char* first_line_of_floats =
        "sinter features,1";   // boundaries were floats, and so compared
    static constexpr std::size_t most_items = 4096;
    static constexpr const char* names[] = {"bucketized", "quantiles", "vocabulary", "hashed", "crossed"};

    static std::string digits(double x) {   // the shortest that read back as the same number
        char s[40];
        return {s, std::to_chars(s, s + sizeof s, x).ptr};
    }
    static std::string line(const char* what, const numeric& n) {
        std::string s = what + (',' + csv::escaped(n.column));
        for (const bool o : {n.options.logarithm, n.options.standardise, n.options.tell_missing}) s += o ? ",1" : ",0";
        return s + ',' + (n.mean == n.mean ? digits(n.mean) : "") + ',' + digits(n.deviation) + '\n';
    }
    static std::string lines(const std::string& what, const categories& c) {
        std::string s = what + ',' + names[static_cast<int>(c.form)] + ',' + csv::escaped(c.column) + ',' +
                        std::to_string(c.size) + (c.learns ? ",1," : ",0,");
        s += std::to_string(c.boundaries.size() + c.words.size() + c.parts.size());
        for (const double b : c.boundaries) s += ',' + digits(b);
        for (const std::string& w : c.words) s += ',' + csv::escaped(w);
        s += '\n';
        for (const categories& p : c.parts) s += lines("part", p);
        return s;
    }

    /// Goes through a record's fields.
    class cursor {
    public:
        bool floats = false;   ///< of an older file, whose boundaries were floats

        explicit cursor(csv::reader& in) : in_(in) {}
        bool next_line() {
            if (at_ < in_.fields().size()) refuse("more than was expected", "the end of the line");
            at_ = 0;
            const bool more = in_.next();
            lines_ += more;
            return more;
        }
        int lines() const { return lines_ - 1; }   ///< behind the first
        std::string word() {
            if (at_ >= in_.fields().size()) refuse("a line is too short", "another field");
            return std::string(in_.fields()[at_++].text);
        }
        bool skips_empty() {
            const bool empty = left() > 0 && in_.fields()[at_].text.empty();
            at_ += empty;
            return empty;
        }
        double number(double least, double most) {
            const std::string s = word();
            double x = 0;
            const auto [end, fault] = std::from_chars(s.data(), s.data() + s.size(), x);
            if (fault != std::errc{} || end != s.data() + s.size() || !(x >= least && x <= most))
                refuse("a number cannot be used", digits(least) + " to " + digits(most), 1);
            return x;
        }
        int whole(int least, int most) {
            const double x = number(least, most);
            if (x != static_cast<int>(x)) refuse("a number is not whole", "a whole number", 1);
            return static_cast<int>(x);
        }
        std::string rest() {
            std::string all;
            while (at_ < in_.fields().size()) all += (all.empty() ? "" : ",") + word();
            return all;
        }
        std::size_t left() const { return in_.fields().size() - at_; }
        [[noreturn]] void refuse(const char* what, const std::string& needed, std::size_t back = 0) const {
            const auto& all = in_.fields();
            if (all.empty()) throw format_error(what, in_.file(), "the end of the file", needed);
            const csv::field& f = all[std::min(at_ - back, all.size() - 1)];
            throw format_error(what, csv::place(in_.file(), f), io::printable(f.text, 40), needed);
        }

    private:
        csv::reader& in_;
        std::size_t at_ = 0;
        int lines_ = 0;
    };
    /// The first double that is `b` or more as a float: with it as a boundary all numbers fall
    /// where they fell when they were compared as floats.
    static double least_that_rounds_to(float b) {
        const double below = static_cast<double>(std::nextafter(b, -std::numeric_limits<float>::infinity()));
        const double middle =
            std::isfinite(below) ? below + (static_cast<double>(b) - below) / 2 : static_cast<double>(b);
        return static_cast<float>(middle) == b ? middle
                                               : std::nextafter(middle, std::numeric_limits<double>::infinity());
    }
    static numeric read_numeric(cursor& at) {
        constexpr double most = 3.5e38;
        numeric n;
        n.column = at.word();
        n.options = {at.whole(0, 1) == 1, at.whole(0, 1) == 1, at.whole(0, 1) == 1};
        if (n.options.standardise || !at.skips_empty()) n.mean = at.number(-most, most);
        n.deviation = at.number(0, most);
        if (n.deviation == 0) at.refuse("a deviation of zero", "a positive number", 1);
        return n;
    }
    static categories read_categories(cursor& at, bool may_cross) {
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
};

/// Writes the whole file or, with an io_error, leaves what was there.
inline void save(const features& f, const std::string& path) {
    io::atomic_write(path, [&](io::output_file& file) { file.write(feature_file::whole_text(f)); });
}
/// io_error where the file cannot be read, format_error where it is none of save's.
inline features load_features(const std::string& path) {
    io::input_file file(path);
    return feature_file::parse(file);
}

} // namespace sinter::data
