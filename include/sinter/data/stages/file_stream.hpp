// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/file_paths.hpp>
#include <sinter/data/stages/stage.hpp>
#include <memory>
#include <utility>
#if SINTER_BODIES
#include <sinter/base/error.hpp>
#endif

/// Streams of the records of files, one file after the other.
namespace sinter::inline SINTER_ORDINARY::data {

/// Where a reader of files is. Bytes of a compressed file are those that it unpacks to.
struct file_cursor {
    std::int64_t file = 0;     ///< its number in the list
    std::int64_t byte = 0;     ///< of it, where the next record begins
    std::int64_t line = 1;     ///< the same, where records are lines of text
    std::int64_t record = 0;   ///< how many of this file were read, or left out as damaged
    bool operator==(const file_cursor&) const = default;
};

namespace stage_parts {
/// Whether a cursor can be one.
constexpr bool is_place(const file_cursor& c) { return c.file >= 0 && c.byte >= 0 && c.line >= 1 && c.record >= 0; }
/// option_error where it cannot.
SINTER_SELDOM SINTER_COLD void need_place(const file_cursor& c);
} // namespace stage_parts

/// The records of files of one format, which is:
///
/// value_type, ticket      as of a stream
/// files()                 how many there are
/// open_file(format, c)    the file of cursor `c`, which stands where that says
/// open_file.next(c, k)    its next record, with `c` moved behind it; false at its end. An error moves `c`, too, where
///                         what is behind a damaged record can be read.
/// get(k)                  the value of a record
/// describe(d)
///
/// Going on from a cursor opens its file at its byte. After an error the cursor stands behind the damaged record, or at
/// the next file where that one's rest cannot be read: so who leaves errors out comes to an end.
template <class Format>
class file_stream {
public:
    static constexpr bool is_indexed = false;
    static constexpr int maps = 0;
    using value_type = typename Format::value_type;
    using cursor = file_cursor;
    using ticket = typename Format::ticket;
    struct state {
        std::unique_ptr<typename Format::open_file> file;
        file_cursor at;   ///< where `file` stands
    };

    explicit file_stream(Format f) : format_(std::make_shared<const Format>(std::move(f))) {}
    const Format& format() const { return *format_; }
    std::int64_t size() const { return unknown_size; }
    void begin(state&, std::int64_t) const {}
    bool fits(const cursor& c) const {
        return stage_parts::is_place(c) && c.file <= static_cast<std::int64_t>(format_->files());
    }
    bool next(state& s, cursor& c, ticket& k) const {
        const auto files = static_cast<std::int64_t>(format_->files());
        for (; c.file < files; c = {.file = c.file + 1}) {
            const cursor before = c;
            bool found = false;
            try {
                if (!s.file || !(s.at == c)) {
                    s.file.reset();   // before another is opened
                    stage_parts::need_place(c);
                    s.file = std::make_unique<typename Format::open_file>(*format_, c);
                }
                found = s.file->next(c, k);
            } catch (...) {
                if (c == before) c = {.file = c.file + 1};
                s.file.reset();
                throw;
            }
            s.at = c;
            if (found) return true;
        }
        s.file.reset();
        return false;
    }
    decltype(auto) get(state&, ticket& k) const { return format_->get(k); }
    SINTER_COLD void describe(description& d) const { format_->describe(d); }

private:
    std::shared_ptr<const Format> format_;
};

#if SINTER_BODIES
namespace stage_parts {
SINTER_SELDOM_BODY void need_place(const file_cursor& c) {
    if (!is_place(c))
        throw option_error("no place in a stream of files", {},
                           to_text({"file ", c.file, ", byte ", c.byte, ", line ", c.line, ", record ", c.record}),
                           "no number below 0, and lines from 1 on");
}
} // namespace stage_parts
#endif

} // namespace sinter::data
