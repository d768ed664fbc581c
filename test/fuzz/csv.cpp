// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes are refused with format_error or are records; written anew, those are read as the same.
#include "message.hpp"
#include <sinter/data/source/csv/table.hpp>

#include <cstdlib>

static std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    namespace csv = sinter::data::csv;
    try {
        const csv::table read = csv::parse({reinterpret_cast<const char*>(data), size}, "fuzz", {.header = false});
        std::string text;
        for (std::int64_t r = 0; r < read.rows(); ++r)
            for (std::int64_t c = 0; c < read.columns(); ++c) {
                const csv::field f = read.at(r, c);
                if (f.line < 1 || f.column < 1 || f.line > size + 1 || f.column > size + 1) std::abort();
                // The first is always quoted: an empty one alone would be an empty line, and a byte
                // order mark be skipped.
                text += c == 0 ? in_quotes(f.text) : csv::escaped(f.text);
                text += c + 1 < read.columns() ? ',' : '\n';
            }
        const csv::table again = csv::parse(text, "again", {.header = false});
        if (again.rows() != read.rows()) std::abort();
        for (std::int64_t r = 0; r < read.rows(); ++r)
            for (std::int64_t c = 0; c < read.columns(); ++c)
                if (again.at(r, c).text != read.at(r, c).text) std::abort();
        for (std::int64_t c = 0; c < read.columns(); ++c) try {
                (void)read.numbers(std::to_string(c));
            } catch (const format_error& e) {
                must_be_fit(e);
            }
    } catch (const format_error& e) {
        must_be_fit(e);
    }
    return 0;
}
