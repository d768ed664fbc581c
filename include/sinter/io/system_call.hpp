// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/joined.hpp>

#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

/// The thin layer over POSIX that the file classes share: a descriptor that closes itself, and
/// errno as an error.
namespace sinter::inline SINTER_TARGET::io {

/// Throws an io_error whose `got` is the system's own words for `errno_value`.
[[noreturn]] SINTER_COLD inline void throw_io_error(int errno_value, std::string_view what, std::string_view where,
                                                    std::string_view needed = {}) {
    throw io_error(what, where, std::generic_category().message(errno_value), needed);
}

/// io_error for a path with a zero byte in it: the system reads names to the first one, and would
/// open, or replace, another file.
SINTER_COLD inline void need_whole_path(const std::string& path) {
    if (const std::size_t at = path.find('\0'); at != std::string::npos)
        throw io_error("a path has a zero byte", path.substr(0, at), joined({"one at place ", at}), "a path without");
}

/// Repeats a system call for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
    for (;;) {
        const auto result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

/// Owns a file descriptor.
class descriptor {
public:
    explicit descriptor(int fd = -1) noexcept : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~descriptor() { close(); }

    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

    /// Closes and returns 0 or errno. Never repeated: after EINTR the descriptor is gone on Linux,
    /// and a second close could hit one that another thread has just been given.
    int close() noexcept {
        if (fd_ < 0) return 0;
        const int result = ::close(std::exchange(fd_, -1));
        return result == 0 || errno == EINTR ? 0 : errno;
    }

private:
    int fd_;
};

} // namespace sinter::io
