// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/quoted_text.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

/// Errors. Every fault that a program can meet at run time is a `sinter::error` or a kind under it,
/// and says four things: what went wrong, where (a file, a tensor, an option), what was got and
/// what was needed. what() is fit for a terminal and for a log of lines: control characters and
/// bytes that are not UTF-8, as names of files may have them, are written as \xHH there. The four
/// parts have them as they are.
namespace sinter {

class error : public std::runtime_error {
public:
    // Views: a string made of each literal where an error is thrown would be most of the code
    // there.
    SINTER_APART error(std::string_view what, std::string_view where, std::string_view got = {},
                       std::string_view needed = {});

    const std::string& fault() const noexcept { return fault_; }
    const std::string& where() const noexcept { return where_; }
    const std::string& got() const noexcept { return got_; }
    const std::string& needed() const noexcept { return needed_; }

private:
    SINTER_APART static std::string compose(std::string_view what, std::string_view where, std::string_view got,
                                            std::string_view needed);
    std::string fault_, where_, got_, needed_;
};

/// The operating system refused: a file that cannot be opened, read, written, synced or renamed.
struct io_error : error { using error::error; };
/// A file's or message's bytes are not what its format demands.
struct format_error : error { using error::error; };
/// Saved tensors do not fit the model: names, shapes or types differ.
struct mismatch_error : error { using error::error; };
/// An option, environment variable or argument has a value that cannot be used.
struct option_error : error { using error::error; };
/// A device is missing, refuses work or has failed; what it holds may be lost.
struct device_error : error { using error::error; };
/// A batch or example does not fit the program: wrong extents, label out of range, batch over its
/// maximum.
struct data_error : error { using error::error; };

#if SINTER_BODIES
SINTER_COLD SINTER_APART error::error(std::string_view what, std::string_view where, std::string_view got,
                                      std::string_view needed)
    : std::runtime_error(compose(what, where, got, needed)), fault_(what), where_(where), got_(got), needed_(needed) {}

SINTER_COLD SINTER_APART std::string error::compose(std::string_view what, std::string_view where,
                                                    std::string_view got, std::string_view needed) {
    std::string s = base::one_line(where);
    if (!s.empty()) s += ": ";
    base::append_lines(s, what);
    if (!got.empty()) (s += "; got ") += base::one_line(got);
    if (!needed.empty()) base::append_lines(s += "; needed ", needed);
    return s;
}
#endif

} // namespace sinter
