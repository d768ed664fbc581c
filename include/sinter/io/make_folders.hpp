// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/system_call.hpp>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>

namespace sinter::inline SINTER_TARGET::io {

/// Makes a folder, and those above it that are missing; one that is there is left as it is. Throws io_error where it
/// is not there afterwards.
SINTER_COLD inline void make_folders(const std::string& path) {
    need_whole_path(path);
    const std::size_t end = path.find_last_not_of('/');
    const std::size_t slash = end == path.npos ? path.npos : path.rfind('/', end);
    const std::string above = slash == path.npos ? "." : path.substr(0, slash + 1);
    bool made = ::mkdir(path.c_str(), 0777) == 0;
    if (!made && errno == ENOENT && slash != path.npos && slash > 0) {
        make_folders(path.substr(0, slash));
        made = ::mkdir(path.c_str(), 0777) == 0;
    }
    if (!made) {
        const int fault = errno;
        struct stat status {};
        if (fault != EEXIST) throw_io_error(fault, "cannot make the folder", path);
        if (::stat(path.c_str(), &status) != 0) throw_io_error(errno, "cannot make the folder", path);
        if (!S_ISDIR(status.st_mode)) throw io_error("cannot make the folder", path, "a file of that name", "a folder");
        return;
    }
    // So that it is there after a power cut, too. Some file systems cannot sync a folder, and need not.
    const descriptor fd(uninterrupted([&] { return ::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (fd) (void)uninterrupted([&] { return ::fsync(fd.get()); });
}
/// The folder in which a file is to be, and those above it.
SINTER_COLD inline void make_folders_above(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    if (slash != file.npos && slash > 0) make_folders(file.substr(0, slash));
}

} // namespace sinter::io
