// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/io/tfrecord/place.hpp>
#include <string>
#include <vector>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/whole_number.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/printable.hpp>
#include <sinter/io/tfrecord/reader.hpp>
#endif

/// Where the records of a TFRecord file lie. As a file, an index is text: a line "byte length" for each record. That is
/// what NVIDIA DALI's tfrecord2idx writes; each reads the other's.
namespace sinter::inline SINTER_ORDINARY::tfrecord {

/// A record's place in its file, with its length and CRCs.
struct record_extent {
    std::uint64_t byte = 0, bytes = 0;
};
using record_index = std::vector<record_extent>;

/// The index that `text` holds, for a file of `file_bytes` bytes. Throws format_error, with the line, where one is not
/// two numbers, a record is shorter than its length and CRCs, begins before the one before it ends, or ends behind the
/// file. `name` is what errors call it. An index may leave records out. That its records are those of the file is seen
/// where they are read: record_file does.
SINTER_SELDOM SINTER_COLD record_index parse_index(std::string_view text, std::uint64_t file_bytes,
                                                   std::string_view name);
/// The same from a file; throws io_error where it cannot be read.
SINTER_SELDOM SINTER_COLD record_index read_index(const std::string& path, std::uint64_t file_bytes);
/// The index of a plain TFRecord file, whose records are read for that; their data's CRCs are not checked. Throws as
/// reader does.
SINTER_SELDOM SINTER_COLD record_index make_index(const std::string& path);
/// As a file has it.
SINTER_SELDOM SINTER_COLD std::string index_text(const record_index& index);

#if SINTER_BODIES
SINTER_SELDOM_BODY record_index parse_index(std::string_view text, std::uint64_t file_bytes, std::string_view name) {
    record_index index;
    std::uint64_t end = 0, line_number = 0;
    while (!text.empty()) {
        ++line_number;
        const std::size_t line_end = text.find('\n') < text.size() ? text.find('\n') : text.size();
        std::string_view line = text.substr(0, line_end);
        text.remove_prefix(line_end < text.size() ? line_end + 1 : line_end);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        const std::size_t space = line.find(' ') < line.size() ? line.find(' ') : line.size();
        const auto refuse = [&](const char* what, std::string_view needed) {
            throw format_error(what, to_text({name, ", line ", line_number}), io::printable(line), needed);
        };
        record_extent r;
        if (space == line.size() || !base::read_whole_number(line.substr(0, space), r.byte) ||
            !base::read_whole_number(line.substr(space + 1), r.bytes))
            refuse("not an index of a TFRecord file", "two numbers: the byte where a record begins, and its length");
        if (r.bytes < frame_bytes) refuse("record is shorter than any", to_text({frame_bytes, " bytes or more"}));
        if (r.byte < end) refuse("records are out of order", to_text({"byte ", end, " or later"}));
        if (r.byte > file_bytes || r.bytes > file_bytes - r.byte)
            refuse("record ends behind the file: the index is of another", to_text({"at most ", file_bytes, " bytes"}));
        end = r.byte + r.bytes;
        index.push_back(r);
    }
    return index;
}

SINTER_SELDOM_BODY record_index read_index(const std::string& path, std::uint64_t file_bytes) {
    const std::vector<std::byte> bytes = io::read_whole_file(path);
    return parse_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file_bytes, path);
}

SINTER_SELDOM_BODY record_index make_index(const std::string& path) {
    record_index index;
    reader r(path, {.packed = compression::none, .check_data = false});
    while (r.next()) index.push_back({r.byte(), frame_bytes + r.record().size()});
    return index;
}

SINTER_SELDOM_BODY std::string index_text(const record_index& index) {
    std::string text;
    for (const record_extent& r : index) text += to_text({r.byte, " ", r.bytes, "\n"});
    return text;
}
#endif

} // namespace sinter::tfrecord
