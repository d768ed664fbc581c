// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/data/source/csv/table.hpp>
#include <sinter/data/scaling.hpp>
#include <sinter/io/atomic_write.hpp>
#include <charconv>

/// A scaling as a file, so that what was done to the training data can be done to other data, in
/// another program.
namespace sinter::inline SINTER_ORDINARY::data {

/// The file is CSV: a line of names, then one for each column of numbers, all digits kept; then the number of columns,
/// without an end of line, so that a file that was cut anywhere is known by it.
class scaling_file {
public:
    /// What a file has; text() is the same without the end, as older files have it, and is read as well.
    SINTER_APART static std::string whole_text(const scaling& s);
    SINTER_APART static std::string text(const scaling& s);
    /// format_error, with file, line and column, for anything that text() does not write.
    SINTER_APART static scaling parse(io::byte_source& in);

private:
    static constexpr const char* first_line_of_files = "sinter scaling,2";
    static constexpr const char* first_line = "sinter scaling,1";   // of before: without an end
    static constexpr const char* names[] = {"columns", "last_axis", "everything"};

    SINTER_APART static std::string digits(double x);
    SINTER_APART static double number(const csv::reader& in, std::size_t at);
    [[noreturn]] SINTER_APART static void refuse(const csv::reader& in, const char* what, std::size_t at,
                                                 const std::string& needed);
};

/// Writes the whole file or, with an io_error, leaves what was there.
inline void save(const scaling& s, const std::string& path) {
    io::atomic_write(path, [&](io::output_file& file) { file.write(scaling_file::whole_text(s)); });
}
/// io_error where the file cannot be read, format_error where it is none of save's.
SINTER_APART scaling load_scaling(const std::string& path);

#if SINTER_BODIES
SINTER_APART std::string scaling_file::whole_text(const scaling& s) {
    const std::string all = text(s);
    return first_line_of_files + all.substr(all.find('\n')) + "end," + std::to_string(s.statistics().size());
}

SINTER_APART std::string scaling_file::text(const scaling& s) {
    const scaling_options& o = s.options();
    std::string all = first_line + std::string("\n");
    all += o.form == scaling_form::standard ? "standard" : "min_max";
    all += ',' + std::string(names[static_cast<int>(o.of)]) + ',' + digits(o.low) + ',' + digits(o.high) + '\n';
    for (const scaling::column_scale& c : s.statistics())
        all += digits(c.shift) + ',' + digits(c.spread) + (c.rest == 0 ? "" : ',' + digits(c.rest)) + '\n';
    return all;
}

SINTER_APART scaling scaling_file::parse(io::byte_source& in) {
    csv::reader reader(in, {.header = false, .ragged = true});
    const auto& f = reader.fields();
    std::string head;
    if (reader.next() && f.size() == 2) head = csv::escaped(f[0].text) + ',' + csv::escaped(f[1].text);
    const bool has_end = head == first_line_of_files;
    if (head != first_line && !has_end) refuse(reader, "not a file of a scaling", 0, first_line_of_files);
    bool ended = false;
    scaling_options o;
    if (!reader.next() || f.size() != 4 || (f[0].text != "standard" && f[0].text != "min_max"))
        refuse(reader, "unknown scaling", 0, "standard or min_max, what has statistics, and two numbers");
    o.form = f[0].text == "standard" ? scaling_form::standard : scaling_form::min_max;
    int k = 0;
    while (k < 3 && f[1].text != names[k]) ++k;
    if (k == 3) refuse(reader, "unknown statistics", 1, "columns, last_axis or everything");
    o.of = static_cast<statistics_of>(k);
    o.low = number(reader, 2);
    o.high = number(reader, 3);
    if (!(o.low < o.high)) refuse(reader, "a range that is empty", 3, "a number above " + digits(o.low));
    std::vector<scaling::column_scale> columns;
    while (reader.next()) {
        if (ended) refuse(reader, "more than the end of the file", 0, "end, a number, and nothing else");
        if (has_end && f.size() == 2 && f[0].text == "end") {
            if (f[1].text != std::to_string(columns.size()))
                refuse(reader, "the file was cut: not as many columns as were written", 1,
                       std::to_string(columns.size()));
            ended = true;
            continue;
        }
        if (f.size() != 2 && f.size() != 3) refuse(reader, "a line of other length", 0, "a shift and a spread");
        columns.push_back({number(reader, 0), number(reader, 1), f.size() == 3 ? number(reader, 2) : 0});
        if (!(columns.back().spread > 0)) refuse(reader, "a number cannot be used", 1, "a spread above 0");
    }
    if (columns.empty())
        throw format_error("no columns", reader.file(), "the end of the file", "a shift and a spread");
    if (has_end && !ended)
        throw format_error("the file was cut", reader.file(), "the end of the file",
                           "the line that begins with end");
    return scaling(std::move(columns), o);
}

SINTER_APART std::string scaling_file::digits(double x) {   // the shortest that read back as the same number
    char s[40];
    return {s, std::to_chars(s, s + sizeof s, x).ptr};
}

SINTER_APART double scaling_file::number(const csv::reader& in, std::size_t at) {
    const std::string_view s = in.fields()[at].text;
    double x = 0;
    const auto [end, fault] = std::from_chars(s.data(), s.data() + s.size(), x);
    if (fault != std::errc{} || end != s.data() + s.size() || x - x != 0)
        refuse(in, "a number cannot be used", at, "a number");
    return x;
}

SINTER_APART void scaling_file::refuse(const csv::reader& in, const char* what, std::size_t at,
                                       const std::string& needed) {
    if (at >= in.fields().size()) throw format_error(what, in.file(), "the end of the file", needed);
    const csv::field& f = in.fields()[at];
    throw format_error(what, csv::place(in.file(), f), io::printable(f.text, 40), needed);
}

SINTER_APART scaling load_scaling(const std::string& path) {
    io::input_file file(path);
    return scaling_file::parse(file);
}
#endif

} // namespace sinter::data
