// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/stages/file_stream.hpp>
#include <sinter/io/unpacked_file.hpp>
#if SINTER_BODIES
#include <algorithm>
#include <cstring>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct text_options {
    std::size_t longest_line = std::size_t{1} << 24;   ///< in bytes; a longer one is refused
    std::uint64_t most_unpacked_bytes = UINT64_MAX;    ///< a compressed file that unpacks to more is refused
};

namespace stage_parts {

class text_files {
public:
    using value_type = std::string;
    using ticket = std::string;

    SINTER_APART text_files(file_paths paths, text_options o);
    std::size_t files() const { return paths_.size(); }
    const std::string& get(const ticket& k) const { return k; }
    SINTER_APART SINTER_COLD void describe(description& d) const;

    class open_file {
    public:
        SINTER_APART open_file(const text_files& all, const file_cursor& c);
        SINTER_APART bool next(file_cursor& c, std::string& to);

    private:
        static constexpr std::size_t room = std::size_t{1} << 16;
        io::unpacked_file source_;
        std::size_t longest_;
        std::unique_ptr<char[]> buffer_;
        std::size_t at_ = 0, end_ = 0;   // what was read and not yet used, in buffer_
    };

private:
    file_paths paths_;
    text_options options_;
    std::uint64_t bytes_ = 0;
    bool packed_ = false;
};

} // namespace stage_parts

using text_stream = file_stream<stage_parts::text_files>;

/// The lines of text files, file after file, without their ends: a stream of std::string. As tf.data.TextLineDataset
/// has it (ReadLineHelper in tensorflow/core/lib/io/inputbuffer.cc): a line ends with a line feed or with the file, and
/// each carriage return is left out wherever it stands. An empty line is an empty text. Behind the last line feed is a
/// line only where there is text.
///
/// All files are opened when this is called: io_error where one cannot be read. A line beyond the options' limit is a
/// format_error with file, line and byte; the stream then goes on at the next file. Going on in the middle opens the
/// file at the byte of the next line. Files may be compressed by gzip, which is seen by their first bytes: going on in
/// one of those unpacks it from its beginning. Memory: one line and 64 KB for each file that is open.
SINTER_SELDOM SINTER_COLD text_stream text_lines(file_paths paths, text_options o = {});

#if SINTER_BODIES
namespace stage_parts {

SINTER_COLD SINTER_APART text_files::text_files(file_paths paths, text_options o)
    : paths_(std::move(paths)), options_(o) {
    need_files(paths_, "text_lines");
    for (const std::string& path : paths_) {
        const io::unpacked_file file(path);
        bytes_ += file.size();
        packed_ = packed_ || file.is_packed();
    }
}

SINTER_APART void text_files::describe(description& d) const {
    d.stage("lines of text files");
    describe_files(d, paths_, bytes_);
    d("goes on", packed_ ? "by reading compressed files from their beginning" : "at a byte of a file");
}

SINTER_COLD SINTER_APART text_files::open_file::open_file(const text_files& all, const file_cursor& c)
    : source_(all.paths_[static_cast<std::size_t>(c.file)], static_cast<std::uint64_t>(c.byte),
              all.options_.most_unpacked_bytes),
      longest_(all.options_.longest_line), buffer_(std::make_unique_for_overwrite<char[]>(room)) {}

SINTER_APART bool text_files::open_file::next(file_cursor& c, std::string& to) {
    to.clear();
    std::size_t bytes = 0;   // of the line, with what is left out
    bool ended = false;
    while (!ended) {
        if (at_ == end_) {
            at_ = 0;
            end_ = source_.read_some({reinterpret_cast<std::byte*>(buffer_.get()), room});
            if (end_ == 0) break;
        }
        const char* const here = buffer_.get() + at_;
        const auto* const feed = static_cast<const char*>(std::memchr(here, '\n', end_ - at_));
        ended = feed != nullptr;
        const std::size_t n = ended ? static_cast<std::size_t>(feed - here) : end_ - at_;
        if (n > longest_ - bytes)
            throw format_error("a line is too long",
                               to_text({source_.name(), ", line ", c.line, ", from byte ", c.byte, " on"}),
                               to_text({"more than ", longest_, " bytes"}), "a line feed, or option longest_line");
        const auto before = static_cast<std::ptrdiff_t>(to.size());
        to.append(here, n);
        to.erase(std::remove(to.begin() + before, to.end(), '\r'), to.end());
        bytes += n;
        at_ += n + ended;
    }
    if (to.empty() && !ended) return false;
    c.byte += static_cast<std::int64_t>(bytes + ended);
    ++c.line;
    ++c.record;
    return true;
}

} // namespace stage_parts

SINTER_SELDOM_BODY text_stream text_lines(file_paths paths, text_options o) {
    return text_stream(stage_parts::text_files(std::move(paths), o));
}
#endif

} // namespace sinter::data
