// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes are refused with format_error or are features; written anew, those are read as the same,
// and what they make of a table lies within what they promise.
#include "message.hpp"
#include <sinter/data/features/save.hpp>

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    try {
        io::memory_source in(std::as_bytes(std::span(data, size)), "fuzz");
        const data::features f = data::feature_file::parse(in);
        const std::string text = data::feature_file::text(f);
        io::memory_source written(std::as_bytes(std::span(text)), "written");
        if (data::feature_file::text(data::feature_file::parse(written)) != text) std::abort();
        if (f.width() > 10'000) return 0;   // three rows of that are enough
        const data::dataset set = f.apply(data::csv::parse("a,b\n1,low\n,high\n-3e5,\n", "table"));
        std::size_t column = f.width() > 0;
        for (const auto& i : f.items())
            if (i.form == data::features::kind::index) {
                for (std::int64_t r = 0; r < set.size(); ++r) {
                    const int c = *static_cast<const std::int32_t*>(set.row(column, r));
                    if (c < 0 || c >= i.classes.size) std::abort();
                }
                ++column;
            }
        for (const std::int32_t l : set.labels())
            if (l < 0 || l >= f.label().size - 1) std::abort();
    } catch (const format_error& e) {
        must_be_fit(e);
    } catch (const option_error& e) {   // a number is missing and the file has no mean
        must_be_fit(e);
    } catch (const data_error& e) {   // columns that the table lacks, more of them than a set has
        must_be_fit(e);
    }
    return 0;
}
