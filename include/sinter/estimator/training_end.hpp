// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/hash.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/whole_number.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/io/atomic_write.hpp>
#include <sinter/io/printable.hpp>
#include <sinter/io/run_record.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// The file beside checkpoints that says that training has ended, and at which step: so that an
/// evaluator, which sees nothing but files, knows which checkpoint is the last. It has a checksum, and says of which
/// run this is true, and how many steps that was to train: one that was left by a job that is now continued, or was
/// begun anew, is not believed.
class training_end {
public:
    /// What the file says.
    struct mark {
        std::int64_t step = -1;        ///< at which training has ended; -1: there is no file
        std::int64_t max_steps = -1;   ///< it was to end at; -1: a version before 2026-12 wrote it, and did not say
        std::int64_t run = 0;          ///< that has ended, by the number in its record (io/run_record.hpp); 0: unknown
    };
    explicit training_end(const std::string& folder) : path_(folder + "/ended"), record_(folder + "/run") {}

    /// Once the last checkpoint is there. `max_steps`: as many as were to be trained; -1: it is not said, and those
    /// who train no more than `step` believe it. Throws io_error.
    SINTER_APART SINTER_COLD void write(std::int64_t step, std::int64_t max_steps = -1) const;
    /// Training goes on.
    SINTER_APART SINTER_COLD void remove() const;
    /// Throws format_error where the file is not as write() leaves it: a step read from a part of it would end an
    /// evaluation too early.
    SINTER_APART SINTER_COLD mark read() const;
    std::int64_t step() const { return read().step; }   ///< whatever run and number of steps it is of
    /// The step at which training of `max_steps` has ended; -1: it has not. `why`: why a file that is there is not
    /// believed, or nothing.
    SINTER_APART SINTER_COLD std::int64_t step(std::int64_t max_steps, std::string* why = nullptr) const;

private:
    std::string path_, record_;

    SINTER_APART static std::string text_of(const mark& m);
};

} // namespace sinter::training_parts

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART void training_end::write(std::int64_t step, std::int64_t max_steps) const {
    io::atomic_write(path_, [&](io::output_file& f) {
        f.write(text_of({step, max_steps, run_record::order_in(record_).run}));
    });
}
SINTER_APART void training_end::remove() const {
    if (!base::os::remove_file(path_) && errno != ENOENT) io::throw_io_error(errno, "cannot remove", path_);
}
SINTER_APART training_end::mark training_end::read() const {
    char text[128];
    std::size_t n = 0;
    for (int tries = 0; n == 0 && tries < 2; ++tries) {   // it may come and go at any moment
        try {
            io::input_file in(path_);
            n = in.read_up_to(as_writable_bytes(text));
        } catch (const io_error&) {
            if (!base::os::exists(path_) && errno == ENOENT) return {};
            if (tries > 0) throw;
        }
    }
    mark m;
    std::string_view rest(text, n);
    for (std::int64_t* x : {&m.step, &m.max_steps, &m.run}) {
        if (!base::take_number(rest, *x) || *x < 0) break;
        if (rest.empty() || rest.front() != ' ') break;
        rest.remove_prefix(1);
    }
    if (m.step < 0 || text_of(m) != std::string_view(text, n))
        throw format_error("does not say at which step training has ended", path_,
                           io::printable(std::string_view(text, n)), "a step and the end of a line");
    return m;
}
SINTER_APART std::int64_t training_end::step(std::int64_t max_steps, std::string* why) const {
    const mark m = read();
    std::string doubt;
    if (m.step < max_steps && m.max_steps != max_steps && m.step >= 0)
        doubt = m.max_steps < 0 ? to_text({"step ", m.step, ", and not how many there were to be"})
                                : to_text({"step ", m.step, " of ", m.max_steps, ", and ", max_steps,
                                          " are to be trained here"});
    else if (const std::int64_t now = m.run > 0 ? run_record::order_in(record_).run : 0; now > m.run)
        doubt = to_text({"step ", m.step, " of a run before the present one"});
    if (why) *why = doubt.empty() ? "" : to_text({"; ", path_, " is of ", doubt});
    return doubt.empty() ? m.step : -1;
}
SINTER_APART std::string training_end::text_of(const mark& m) {
    if (m.max_steps < 0) return to_text({m.step, "\n"});
    const std::string numbers = to_text({m.step, " ", m.max_steps, " ", m.run});
    return to_text({numbers, " ", base::fnv1a(numbers), "\n"});
}

} // namespace sinter::training_parts
#endif
