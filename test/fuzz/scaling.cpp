// SPDX-License-Identifier: BSL-1.0
// shows files: any bytes in place of data files, features, scalings and runs' records
// libFuzzer target: any bytes are refused with format_error or option_error or are a scaling; written anew, those are
// read as the same, and they scale numbers of every type.
#include "message.hpp"
#include <sinter/data/scaling/save.hpp>

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    try {
        io::memory_source in(std::as_bytes(std::span(data, size)), "fuzz");
        const data::scaling s = data::scaling_file::parse(in);
        const std::string text = data::scaling_file::text(s);
        io::memory_source written(std::as_bytes(std::span(text)), "written");
        if (data::scaling_file::text(data::scaling_file::parse(written)) != text) std::abort();
        const auto n = static_cast<std::size_t>(s.columns());
        std::vector<std::int64_t> wide(n, INT64_MIN);
        const std::vector<std::uint64_t> widest(n, UINT64_MAX);
        for (std::size_t i = 0; i < n; i += 2) wide[i] = (std::int64_t{1} << 53) + 1;
        if (s.apply(wide).size() != n || s.apply(widest).size() != n || s.original(s.apply(wide)).size() != n)
            std::abort();
    } catch (const format_error& e) {
        must_be_fit(e);
    } catch (const option_error& e) {   // a shift and its rest that are beyond doubles together
        must_be_fit(e);
    }
    return 0;
}
