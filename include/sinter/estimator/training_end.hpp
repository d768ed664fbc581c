// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/printable.hpp>
#include <charconv>

namespace sinter::inline SINTER_TARGET::detail {

/// The file beside checkpoints that says that training has ended, and at which step: so that an
/// evaluator, which sees nothing but files, knows which checkpoint is the last.
class training_end {
public:
    explicit training_end(const std::string& folder) : path_(folder + "/ended") {}
    SINTER_COLD void write(std::int64_t step) const {
        io::atomic_write(path_, [&](io::output_file& f) { f.write(joined({step, "\n"})); });
    }
    /// Training goes on.
    SINTER_COLD void remove() const {
        if (::unlink(path_.c_str()) != 0 && errno != ENOENT) io::throw_io_error(errno, "cannot remove", path_);
    }
    /// The step at which it ended; -1: it has not. Throws format_error where the file is not as
    /// write() leaves it: a step read from a part of it would end an evaluation too early.
    SINTER_COLD std::int64_t step() const {
        char text[32];
        std::size_t n = 0;
        for (int tries = 0; n == 0 && tries < 2; ++tries) {   // it may come and go at any moment
            try {
                io::input_file in(path_);
                n = in.read_up_to(as_writable_bytes(text));
            } catch (const io_error&) {
                if (::access(path_.c_str(), F_OK) != 0 && errno == ENOENT) return -1;
                if (tries > 0) throw;
            }
        }
        std::int64_t step = -1;
        const auto fault = std::from_chars(text, text + n, step).ec;
        if (fault != std::errc{} || step < 0 || joined({step, "\n"}) != std::string_view(text, n))
            throw format_error("does not say at which step training has ended", path_,
                               io::printable(std::string_view(text, n)), "a step and the end of a line");
        return step;
    }

private:
    std::string path_;
};

} // namespace sinter::detail
