// SPDX-License-Identifier: BSL-1.0
// shows files: a reader of CSV that begins within a file gives what the one before would have given
// libFuzzer target: behind a record that the first byte chooses another reader goes on, with the same records, places
// and errors as the first one.
#include "message.hpp"
#include <sinter/data/source/csv/reader.hpp>
#include <vector>

namespace csv = sinter::data::csv;

/// All that a reader gives, and the error that ends it.
static std::vector<std::string> rest_of(csv::reader& in) {
    std::vector<std::string> all;
    for (;;) try {
            if (!in.next()) return all;
            for (const csv::field& f : in.fields())
                all.push_back(csv::place("", f) + ' ' + std::string(f.text) + (f.missing ? " missing" : ""));
            all.push_back(std::to_string(in.offset()) + ' ' + std::to_string(in.next_byte()));
        } catch (const sinter::format_error& e) {
            must_be_fit(e);
            all.push_back(e.what());
            if (!in.can_go_on()) return all;
        }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinter;
    if (size == 0) return 0;
    const span<const std::byte> text(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    const csv::options o{.header = false, .names = {"a", "b"}, .longest_record = 50};
    io::memory_source whole(text, "fuzz");
    csv::reader first(whole, o);
    for (int records = data[0] % 16; records > 0; --records) try {
            if (!first.next()) break;
        } catch (const format_error&) {
            if (!first.can_go_on()) return 0;
        }
    csv::options behind = o;
    behind.begin_byte = first.next_byte();
    behind.begin_line = first.next_line();
    if (behind.begin_byte > text.size()) std::abort();
    io::memory_source rest(text.subspan(static_cast<std::size_t>(behind.begin_byte)), "fuzz");
    csv::reader second(rest, behind);
    if (rest_of(first) != rest_of(second)) std::abort();
    return 0;
}
