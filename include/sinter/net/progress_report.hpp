// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/descriptor.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/net/environment.hpp>
#include <cstdint>
#include <string>
#include <string_view>

/// How a member of a job reports to sinter-launch how far it is.
///
/// SINTER_PROGRESS_FD is "D:I": descriptor D is a Unix socket of packets whose inode is I (by which
/// a member sees that nobody has closed it and opened something else). Each packet is words, of
/// which the first says what it is:
///     step N rate R loss L busy B
///                              step N is over; R steps per second since the last packet; which part
///                              of the time since then it did not wait for others, 0 to 1; what is
///                              not known is left out
///     rest                     it makes no steps for a while: it evaluates, or waits for the end of the others
///     count KEY VALUE ...      numbers beside the steps, of which the last ones are shown (parameter servers:
///                              staleness, most_staleness, dropped, repeated, sent, received)
///     table NAME KEY VALUE ... the same of one table of a server, whose name has no spaces (rows, made, waiting,
///                              refused, evicted, expired)
///     note TEXT                anything else for people to read, in one line
/// Packets of other kinds and further words are ignored. Nothing is answered, and a packet that the
/// socket does not take at once is dropped: a launcher that is slow or gone never delays a step.
namespace sinter::inline SINTER_ORDINARY::wire {

class progress_report {
public:
    static constexpr double every = 0.1;           ///< seconds between two packets at least
    static constexpr std::size_t longest = 1000;   ///< bytes of a packet

    SINTER_APART explicit progress_report(const environment& env = {});

    progress_report(progress_report&&) = default;
    progress_report& operator=(progress_report&&) = default;
    ~progress_report() { send_last(); }

    /// Whether anybody listens.
    bool wanted() const noexcept { return static_cast<bool>(fd_); }

    /// Step `step` (counted from the job's beginning) is over. Cheap: most calls only look at the
    /// clock, and none does where nobody listens. `loss` may be NaN: not known. `waited`: seconds
    /// for which it has waited for others, in all; -1: not known. Whether it was reported.
    SINTER_APART bool step(std::int64_t step, double loss, double waited = -1);
    /// Numbers beside the steps, as "dropped 3 sent 123456": not more often than step() reports
    /// something.
    SINTER_APART void count(std::string_view keys_and_values);
    /// Numbers of one table, as "rows 1000 expired 3".
    SINTER_APART void table(std::string_view name, std::string_view keys_and_values);
    /// Steps pause: the next one's rate is not measured from the last one on.
    SINTER_APART void rest();
    /// A line for people: what this member does where it makes no steps, as "evaluates step 1000".
    SINTER_APART void note(std::string_view text);

private:
    /// The step at which steps end, or pause, if it came too soon after the last packet.
    SINTER_APART void send_last();
    SINTER_APART void send(const std::string& text);

    base::descriptor fd_;
    std::int64_t last_step_ = -1, unsent_step_ = -1;
    double last_time_ = 0, last_waited_ = -1, unsent_loss_ = 0;
};

} // namespace sinter::inline SINTER_ORDINARY::wire

#if SINTER_BODIES
#include <sinter/base/decimal.hpp>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/net/address.hpp>
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace sinter::inline SINTER_ORDINARY::wire {
SINTER_COLD SINTER_APART progress_report::progress_report(const environment& env) {
    const std::string given = env("SINTER_PROGRESS_FD").value_or("");
    const std::size_t colon = given.find(':');
    if (colon == given.npos) return;
    const auto fd = integer(std::string_view(given).substr(0, colon), 0, 1 << 20);
    const auto inode = integer(std::string_view(given).substr(colon + 1), 0, INT64_MAX);
    struct stat s {};
    if (!fd || !inode || ::fstat(static_cast<int>(*fd), &s) != 0 || !S_ISSOCK(s.st_mode)) return;
    if (s.st_ino != static_cast<ino_t>(*inode)) return;
    fd_ = base::descriptor(::fcntl(static_cast<int>(*fd), F_DUPFD_CLOEXEC, 0));   // not for this member's children
}

SINTER_COLD SINTER_APART bool progress_report::step(std::int64_t step, double loss, double waited) {
    if (!wanted()) return false;
    const double now = base::monotonic_seconds();
    unsent_step_ = step, unsent_loss_ = loss;
    if (last_step_ >= 0 && now - last_time_ < every) return false;
    std::string text = "step " + std::to_string(step);
    if (last_step_ >= 0 && step > last_step_)
        text += " rate " + base::general_text(static_cast<double>(step - last_step_) / (now - last_time_), 6);
    if (loss == loss) text += " loss " + base::general_text(loss, 6);
    if (last_step_ >= 0 && waited >= 0 && last_waited_ >= 0)
        text += " busy " +
                base::general_text(std::clamp(1 - (waited - last_waited_) / (now - last_time_), 0., 1.), 3);
    last_step_ = step, last_time_ = now, last_waited_ = waited;
    unsent_step_ = -1;
    send(text);
    return true;
}

SINTER_COLD SINTER_APART void progress_report::count(std::string_view keys_and_values) {
    if (wanted()) send("count " + std::string(keys_and_values));
}

SINTER_COLD SINTER_APART void progress_report::table(std::string_view name, std::string_view keys_and_values) {
    if (!wanted()) return;
    std::string text = "table " + std::string(name);
    std::replace(text.begin() + 6, text.end(), ' ', '_');
    send(text + " " + std::string(keys_and_values));
}

SINTER_COLD SINTER_APART void progress_report::rest() {
    if (!wanted() || last_step_ < 0) return;
    send_last();
    last_step_ = -1;
    send("rest");
}

SINTER_COLD SINTER_APART void progress_report::note(std::string_view text) {
    if (wanted()) send("note " + std::string(text));
}

SINTER_COLD SINTER_APART void progress_report::send_last() {
    if (!wanted() || unsent_step_ < 0) return;
    std::string text = "step " + std::to_string(unsent_step_);
    if (unsent_loss_ == unsent_loss_) text += " loss " + base::general_text(unsent_loss_, 6);
    send(text);
    unsent_step_ = -1;
}

SINTER_COLD SINTER_APART void progress_report::send(const std::string& text) {
    const auto n = ::send(fd_.get(), text.data(), std::min(text.size(), longest), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS) fd_.close();   // the launcher is gone
}
} // namespace sinter::inline SINTER_ORDINARY::wire
#endif
