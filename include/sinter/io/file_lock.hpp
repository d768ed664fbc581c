// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/message.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/os/advisory_lock.hpp>
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/base/os/file_status.hpp>
#include <sinter/base/os/process.hpp>
#include <sinter/base/os/sleep.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/wait_notice.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <atomic>

namespace sinter::inline SINTER_ORDINARY::io {

/// Nobody else has a file for as long as this lives: by flock(), or, where the file system knows no locks (Lustre
/// without its option, some FUSE and 9p mounts), by a second file beside it, PATH.lock, that only one can make. The
/// program then says so once.
///
/// The second file outlives a process that is killed while it has it. One that has not changed for `abandoned_after`
/// seconds is removed by whoever waits for it: those who hold a lock do so for the time of a rename.
class file_lock {
public:
    static constexpr double patience = 60;   ///< seconds

    /// `fd`: of the open file at `path`, for as long as this lives. Waits for at most `seconds`, and says so after
    /// two of them. Throws io_error.
    SINTER_APART file_lock(int fd, const std::string& path, double seconds = patience, double abandoned_after = 20);
    SINTER_APART ~file_lock();
    file_lock(const file_lock&) = delete;
    file_lock& operator=(const file_lock&) = delete;

private:
    /// Pauses that become longer, up to a limit.
    struct waiting {
        const std::string& path;
        double seconds;
        base::wait_notice notice{2};
        double pause = 0.001;   // seconds

        waiting(const std::string& p, double s) : path(p), seconds(s) {}
        SINTER_SELDOM SINTER_COLD void more();
    };
    const std::string path_;
    int flocked_ = -1;
    descriptor second_;

    std::string second() const { return path_ + ".lock"; }
    SINTER_SELDOM SINTER_COLD void say_once(int fault) const;
    /// Takes it away under another name first: what has come in its place meanwhile is put back.
    SINTER_SELDOM SINTER_COLD void remove_abandoned(std::int64_t inode) const;
};

#if SINTER_BODIES
SINTER_COLD SINTER_APART file_lock::file_lock(int fd, const std::string& path, double seconds, double abandoned_after)
    : path_(path) {
    waiting w(path, seconds);
    for (;;) {
        if (os::try_lock(fd)) {
            flocked_ = fd;
            return;
        }
        if (errno != EWOULDBLOCK) break;
        w.more();
    }
    say_once(errno);
    std::int64_t seen[3] = {};   // of the second file, and since when it is so
    double since = 0;
    for (;;) {
        second_ = os::make_file(second());
        if (second_) return;
        if (errno != EEXIST) throw_io_error(errno, "cannot make", second());
        if (const os::file_status s = os::status_of(second())) {
            const std::int64_t now[] = {static_cast<std::int64_t>(s.number), s.seconds, s.nanoseconds};
            if (now[0] != seen[0] || now[1] != seen[1] || now[2] != seen[2]) {
                for (int i = 0; i < 3; ++i) seen[i] = now[i];
                since = base::monotonic_seconds();
            } else if (base::monotonic_seconds() - since > abandoned_after) {
                remove_abandoned(now[0]);
                continue;
            }
        }
        w.more();
    }
}

SINTER_APART file_lock::~file_lock() {
    if (flocked_ >= 0) os::unlock(flocked_);
    if (!second_) return;
    const os::file_status own = os::status_of(second_.get()), there = os::status_of(second());
    if (own && there && own.number == there.number) os::remove_file(second());
}

SINTER_SELDOM_BODY void file_lock::waiting::more() {
    const double waited = notice.waited();
    if (waited > seconds)
        throw io_error("cannot lock: another process has it all the time", path,
                       to_text({"no lock in ", base::number_text(seconds), " s"}),
                       "that process to go on or to be ended (fuser PATH names it)");
    if (notice.is_due())
        base::say(
            message_level::normal,
            to_text({"waits for the lock that another process has, for ", static_cast<int>(waited), " s"}),
            path);
    os::sleep_seconds(pause);
    if (pause < 0.1) pause *= 2;
}

SINTER_SELDOM_BODY void file_lock::say_once(int fault) const {
    static std::atomic<bool> reported{false};
    if (!reported.exchange(true))
        base::say(message_level::warning,
                  to_text({"the file system knows no locks (flock: ", std::generic_category().message(fault),
                          "): ", second(), " guards it instead"}),
                  path_);
}

SINTER_SELDOM_BODY void file_lock::remove_abandoned(std::int64_t inode) const {
    const std::string away = to_text({second(), ".", os::process_number()});
    if (!os::rename_file(second(), away)) return;
    const os::file_status s = os::status_of(away);
    if (s && static_cast<std::int64_t>(s.number) != inode) (void)os::add_name(away, second());
    os::remove_file(away);
}
#endif

} // namespace sinter::io
