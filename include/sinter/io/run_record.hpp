// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/io/file.hpp>
#include <sinter/io/printable.hpp>
#include <charconv>
#include <random>
#include <sys/file.h>
#include <unistd.h>

namespace sinter::inline SINTER_TARGET {

/// The small file beside checkpoints that says whose they are, and how often a run has begun anew
/// at the same step.
///
/// A run that begins takes them over: it writes a token that no other run has. Before a checkpoint
/// gets its name the token is compared, under the file's lock. So a run that was replaced, because
/// it hung or because a network was cut in two, can no longer write over what its successor has
/// written: its next save is an io_error. (flock() is needed: local disks, and NFS since Linux
/// 2.6.12.)
class run_record {
public:
    explicit run_record(std::string path) : path_(std::move(path)) {}

    /// This run is from now on the one that may write. `step` is where it begins; returns how often
    /// in a row runs have begun there and not ended, this one included. `epoch`: of a job whose
    /// members change, in which this process became the one that writes; it takes the files over
    /// anew in each.
    SINTER_COLD std::int64_t take(std::int64_t step, std::int64_t epoch = 0) {
        const io::descriptor fd = open_locked(true);
        fields f = parse(read_all(fd.get()));
        ++f.generation;
        f.begun = f.step == step ? f.begun + 1 : 1;
        f.step = step;
        std::random_device random;
        char host[256] = "unknown";
        ::gethostname(host, sizeof host - 1);
        for (char& c : host)
            if (c == ' ' || c == '\n') c = '_';
        f.owner = joined({host, ":", ::getpid(), ":", random(), random()});
        write_all(fd.get(), f);
        mine_ = token(f);
        epoch_ = epoch;
        return f.begun;
    }
    bool taken(std::int64_t epoch = 0) const { return !mine_.empty() && epoch == epoch_; }
    const std::string& owner() const { return mine_; }   ///< what take() wrote
    /// Calls f() while nobody can take over; io_error where somebody has.
    template <class F>
    SINTER_COLD void guarded(F f) {
        const io::descriptor fd = open_locked(false);
        const fields now = parse(read_all(fd.get()));
        if (token(now) != mine_)
            throw io_error("another run has taken these checkpoints over: this one may not write them any more", path_,
                           io::printable(now.owner), io::printable(mine_));
        f();
    }
    /// The run has ended by itself: what begins at its step later is no restart.
    SINTER_COLD void ended() {
        const io::descriptor fd = open_locked(false);
        fields f = parse(read_all(fd.get()));
        if (token(f) != mine_) return;
        f.begun = 0;
        write_all(fd.get(), f);
    }
    const std::string& path() const { return path_; }

private:
    struct fields {
        std::int64_t generation = 0, step = -1, begun = 0;
        std::string owner;
    };
    std::string path_, mine_;
    std::int64_t epoch_ = 0;   ///< of which `mine_` is

    static std::string token(const fields& f) { return joined({f.generation, " ", f.owner}); }
    SINTER_COLD io::descriptor open_locked(bool make) const {
        io::descriptor fd(io::uninterrupted(
            [&] { return ::open(path_.c_str(), O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0666); }));
        if (!fd) io::throw_io_error(errno, "cannot open", path_);
        if (io::uninterrupted([&] { return ::flock(fd.get(), LOCK_EX); }) != 0)
            io::throw_io_error(errno, "cannot lock", path_);
        return fd;
    }
    SINTER_COLD std::string read_all(int fd) const {
        char text[1024];
        const auto n = io::uninterrupted([&] { return ::pread(fd, text, sizeof text, 0); });
        if (n < 0) io::throw_io_error(errno, "cannot read", path_);
        return {text, static_cast<std::size_t>(n)};
    }
    /// In one call, over what was there: a reader has the lock.
    SINTER_COLD void write_all(int fd, const fields& f) const {
        const std::string text = joined({f.generation, " ", f.step, " ", f.begun, " ", f.owner, "\n"});
        const auto n = io::uninterrupted([&] { return ::pwrite(fd, text.data(), text.size(), 0); });
        if (n != static_cast<ssize_t>(text.size()) || ::ftruncate(fd, n) != 0)
            io::throw_io_error(n < 0 ? errno : ENOSPC, "cannot write", path_);
    }
    /// What is no such line is nobody's. Nor is one whose numbers no run has counted: there would soon
    /// be no larger one.
    static fields parse(std::string_view text) {
        fields f;
        const char *at = text.data(), *const end = at + text.size();
        for (std::int64_t* x : {&f.generation, &f.step, &f.begun}) {
            const auto [next, fault] = std::from_chars(at, end, *x);
            if (fault != std::errc{} || next == end || *next != ' ' || *x > INT64_MAX / 2) return {};
            at = next + 1;
        }
        if (f.generation < 0 || f.begun < 0) return {};
        const std::string_view rest(at, static_cast<std::size_t>(end - at));
        f.owner = rest.substr(0, rest.find('\n'));
        return f;
    }
};

} // namespace sinter
