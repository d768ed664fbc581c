// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/message.hpp>
#include <sinter/base/number_text.hpp>
#include <sinter/base/wait_notice.hpp>
#include <sinter/io/system_call.hpp>
#include <atomic>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

namespace sinter::inline SINTER_TARGET::io {

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
    SINTER_COLD file_lock(int fd, const std::string& path, double seconds = patience, double abandoned_after = 20)
        : path_(path) {
        waiting w(path, seconds);
        for (;;) {
            if (uninterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) {
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
            second_ = descriptor(uninterrupted(
                [&] { return ::open(second().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
            if (second_) return;
            if (errno != EEXIST) throw_io_error(errno, "cannot make", second());
            struct stat status {};
            if (::stat(second().c_str(), &status) == 0) {
                const std::int64_t now[] = {static_cast<std::int64_t>(status.st_ino), status.st_mtim.tv_sec,
                                            status.st_mtim.tv_nsec};
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
    ~file_lock() {
        if (flocked_ >= 0) ::flock(flocked_, LOCK_UN);
        struct stat own {}, there {};
        if (second_ && ::fstat(second_.get(), &own) == 0 && ::stat(second().c_str(), &there) == 0 &&
            own.st_ino == there.st_ino)
            ::unlink(second().c_str());
    }
    file_lock(const file_lock&) = delete;
    file_lock& operator=(const file_lock&) = delete;

private:
    /// Pauses that become longer, up to a limit.
    struct waiting {
        const std::string& path;
        double seconds;
        base::wait_notice notice{2};
        long pause = 1'000'000;   // nanoseconds

        waiting(const std::string& p, double s) : path(p), seconds(s) {}
        SINTER_COLD void more() {
            const double waited = notice.waited();
            if (waited > seconds)
                throw io_error("cannot lock: another process has it all the time", path,
                               joined({"no lock in ", base::number_text(seconds), " s"}),
                               "that process to go on or to be ended (fuser PATH names it)");
            if (notice.is_due())
                base::say(message_level::normal,
                          joined({"waits for the lock that another process has, for ", static_cast<int>(waited), " s"}),
                          path);
            const timespec t{0, pause};
            ::nanosleep(&t, nullptr);
            if (pause < 100'000'000) pause *= 2;
        }
    };
    const std::string path_;
    int flocked_ = -1;
    descriptor second_;

    std::string second() const { return path_ + ".lock"; }
    SINTER_COLD void say_once(int fault) const {
        static std::atomic<bool> said{false};
        if (!said.exchange(true))
            base::say(message_level::warning,
                      joined({"the file system knows no locks (flock: ", std::generic_category().message(fault),
                              "): ", second(), " guards it instead"}),
                      path_);
    }
    /// Takes it away under another name first: what has come in its place meanwhile is put back.
    SINTER_COLD void remove_abandoned(std::int64_t inode) const {
        const std::string away = joined({second(), ".", ::getpid()});
        if (::rename(second().c_str(), away.c_str()) != 0) return;
        struct stat status {};
        if (::stat(away.c_str(), &status) == 0 && static_cast<std::int64_t>(status.st_ino) != inode)
            (void)::link(away.c_str(), second().c_str());
        ::unlink(away.c_str());
    }
};

} // namespace sinter::io
