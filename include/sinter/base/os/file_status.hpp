// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <string>
#include <sys/stat.h>
#if SINTER_BODIES
#include <fcntl.h>
#endif

namespace sinter::base::inline os {

/// What the system says of a file.
struct file_status {
    enum class kind { none, regular, folder, link, other };   ///< other: a device, a pipe, a socket
    kind is = kind::none;        ///< none: it is not there, or nobody can say; errno
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;    ///< of the file among those of its file system, whatever its names are (inode)
    std::uint64_t names = 0;     ///< how many it has (hard links)
    unsigned mode = 0;           ///< who may do what: 07777
    std::int64_t seconds = 0, nanoseconds = 0;   ///< of its last change

    explicit operator bool() const { return is != kind::none; }
    bool is_regular() const { return is == kind::regular; }
    bool is_folder() const { return is == kind::folder; }
    bool is_link() const { return is == kind::link; }

    /// Of what a call of the stat family has answered.
    SINTER_SELDOM SINTER_COLD static file_status of(int result, const struct ::stat& s);
};

/// Of the file that a path leads to, through symbolic links.
SINTER_SELDOM SINTER_COLD file_status status_of(const std::string& path);
/// Of the link itself where the path is one.
SINTER_SELDOM SINTER_COLD file_status status_of_link(const std::string& path);
/// Of an open file.
SINTER_SELDOM SINTER_COLD file_status status_of(int file);
/// Of a name in an open folder.
SINTER_SELDOM SINTER_COLD file_status status_of(int folder, const std::string& name);
/// Sets who may do what with a file in an open folder. False: errno.
SINTER_SELDOM SINTER_COLD bool set_mode(int folder, const std::string& name, unsigned mode);

#if SINTER_BODIES
SINTER_SELDOM_BODY file_status file_status::of(int result, const struct ::stat& s) {
    if (result != 0) return {};
    const kind what = S_ISREG(s.st_mode)   ? kind::regular
                      : S_ISDIR(s.st_mode) ? kind::folder
                      : S_ISLNK(s.st_mode) ? kind::link
                                           : kind::other;
    return {.is = what,
            .bytes = static_cast<std::uint64_t>(s.st_size),
            .number = s.st_ino,
            .names = s.st_nlink,
            .mode = s.st_mode & 07777u,
            .seconds = s.st_mtim.tv_sec,
            .nanoseconds = s.st_mtim.tv_nsec};
}

SINTER_SELDOM_BODY file_status status_of(const std::string& path) {
    struct stat s {};
    return file_status::of(::stat(path.c_str(), &s), s);
}

SINTER_SELDOM_BODY file_status status_of_link(const std::string& path) {
    struct stat s {};
    return file_status::of(::lstat(path.c_str(), &s), s);
}

SINTER_SELDOM_BODY file_status status_of(int file) {
    struct stat s {};
    return file_status::of(::fstat(file, &s), s);
}

SINTER_SELDOM_BODY file_status status_of(int folder, const std::string& name) {
    struct stat s {};
    return file_status::of(::fstatat(folder, name.c_str(), &s, 0), s);
}

SINTER_SELDOM_BODY bool set_mode(int folder, const std::string& name, unsigned mode) {
    return ::fchmodat(folder, name.c_str(), mode, 0) == 0;
}
#endif

} // namespace sinter::base::os
