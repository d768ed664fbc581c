// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/descriptor.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#if SINTER_BODIES
#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#endif

/// Open files. Where a function says "errno", that tells why it could not be done. A call that a signal interrupts is
/// made again; descriptors are closed when another program is started.
namespace sinter::base::inline os {

/// One read or write moves at most this many bytes (Linux itself stops short of 2 GiB).
inline constexpr std::size_t largest_transfer = std::size_t{1} << 30;

// ---- opening: no descriptor, and errno, where that cannot be done

/// To be read. Never waits: without O_NONBLOCK a named pipe that nobody writes would be waited for without end.
SINTER_SELDOM SINTER_COLD descriptor open_to_read(const std::string& path);
/// The same of a name in an open folder; a symbolic link is not followed, but ELOOP.
SINTER_SELDOM SINTER_COLD descriptor open_to_read(int folder, const char* name);
/// What is done with a file that is to be changed.
enum class opening {
    existing,   ///< it must be there
    made,       ///< it is made where it is not there
    emptied,    ///< the same, and what it has is cut off
};
/// To be read and written. A new file gets mode 0666, less the process's mask.
SINTER_SELDOM SINTER_COLD descriptor open_to_change(const std::string& path, opening how);
/// A new file, to be written; EEXIST where there is anything of that name. In an open folder, or in the present one.
SINTER_SELDOM SINTER_COLD descriptor make_file(int folder, const std::string& name, unsigned mode = 0666);
SINTER_SELDOM SINTER_COLD descriptor make_file(const std::string& path, unsigned mode = 0666);
/// A new file that has lost its name, and ends with its last descriptor. To be read and written. `name` ends in XXXXXX,
/// in place of which it gets what no other file there has.
SINTER_SELDOM SINTER_COLD descriptor make_nameless_file(std::string& name);
/// A folder, to name files in it, or to sync it.
SINTER_SELDOM SINTER_COLD descriptor open_folder(const std::string& path);
/// The same open file once more: both share its place and its lock.
SINTER_SELDOM SINTER_COLD descriptor duplicate(int file);

// ---- reading and writing: how many bytes were moved, which may be fewer than asked for; below 0: none, and errno

/// From the file's place on; 0: it has no more.
SINTER_SELDOM std::ptrdiff_t read_some(int file, span<std::byte> to);
SINTER_SELDOM std::ptrdiff_t write_some(int file, span<const std::byte> bytes);
/// From byte `at` on; the file's place stays.
SINTER_SELDOM std::ptrdiff_t read_some_at(int file, std::uint64_t at, span<std::byte> to);
SINTER_SELDOM std::ptrdiff_t write_some_at(int file, std::uint64_t at, span<const std::byte> bytes);
/// The same as read_some_at(), until `to` is full or the file ends.
SINTER_SELDOM std::ptrdiff_t read_up_to_at(int file, std::uint64_t at, span<std::byte> to);

// ---- false: it could not be done, and errno

/// Returns when what was written, or named in a folder, is on the disk itself.
SINTER_SELDOM SINTER_COLD bool sync(int file);
/// The file has so many bytes from now on; new ones are 0.
SINTER_SELDOM SINTER_COLD bool set_length(int file, std::uint64_t bytes);

#if SINTER_BODIES
SINTER_SELDOM_BODY descriptor open_to_read(const std::string& path) {
    return descriptor(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
}

SINTER_SELDOM_BODY descriptor open_to_read(int folder, const char* name) {
    return descriptor(uninterrupted(
        [&] { return ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); }));
}

SINTER_SELDOM_BODY descriptor open_to_change(const std::string& path, opening how) {
    const int flags = O_RDWR | O_CLOEXEC | (how == opening::existing ? 0 : O_CREAT) |
                      (how == opening::emptied ? O_TRUNC : 0);
    return descriptor(uninterrupted([&] { return ::open(path.c_str(), flags, 0666); }));
}

SINTER_SELDOM_BODY descriptor make_file(int folder, const std::string& name, unsigned mode) {
    return descriptor(uninterrupted(
        [&] { return ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); }));
}

SINTER_SELDOM_BODY descriptor make_file(const std::string& path, unsigned mode) {
    return make_file(AT_FDCWD, path, mode);
}

SINTER_SELDOM_BODY descriptor make_nameless_file(std::string& name) {
    descriptor file(::mkostemp(name.data(), O_CLOEXEC));
    if (file) ::unlink(name.c_str());
    return file;
}

SINTER_SELDOM_BODY descriptor open_folder(const std::string& path) {
    return descriptor(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

SINTER_SELDOM_BODY descriptor duplicate(int file) { return descriptor(::fcntl(file, F_DUPFD_CLOEXEC, 0)); }

SINTER_SELDOM_BODY std::ptrdiff_t read_some(int file, span<std::byte> to) {
    return uninterrupted([&] { return ::read(file, to.data(), std::min(to.size(), largest_transfer)); });
}

SINTER_SELDOM_BODY std::ptrdiff_t write_some(int file, span<const std::byte> bytes) {
    return uninterrupted([&] { return ::write(file, bytes.data(), std::min(bytes.size(), largest_transfer)); });
}

SINTER_SELDOM_BODY std::ptrdiff_t read_some_at(int file, std::uint64_t at, span<std::byte> to) {
    return uninterrupted([&] {
        return ::pread(file, to.data(), std::min(to.size(), largest_transfer), static_cast<off_t>(at));
    });
}

SINTER_SELDOM_BODY std::ptrdiff_t write_some_at(int file, std::uint64_t at, span<const std::byte> bytes) {
    return uninterrupted([&] {
        return ::pwrite(file, bytes.data(), std::min(bytes.size(), largest_transfer), static_cast<off_t>(at));
    });
}

SINTER_SELDOM_BODY std::ptrdiff_t read_up_to_at(int file, std::uint64_t at, span<std::byte> to) {
    std::size_t done = 0;
    while (done < to.size()) {
        const std::ptrdiff_t n = read_some_at(file, at + done, to.subspan(done));
        if (n < 0) return n;
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return static_cast<std::ptrdiff_t>(done);
}

SINTER_SELDOM_BODY bool sync(int file) {
    return uninterrupted([&] { return ::fsync(file); }) == 0;
}

SINTER_SELDOM_BODY bool set_length(int file, std::uint64_t bytes) {
    return uninterrupted([&] { return ::ftruncate(file, static_cast<off_t>(bytes)); }) == 0;
}
#endif

} // namespace sinter::base::os
