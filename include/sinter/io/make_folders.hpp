// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/file.hpp>
#include <sinter/base/os/file_status.hpp>
#include <sinter/base/os/folder.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY::io {

/// Makes a folder, and those above it that are missing; one that is there is left as it is. Throws io_error where it
/// is not there afterwards.
SINTER_SELDOM SINTER_COLD void make_folders(const std::string& path);
/// The folder in which a file is to be, and those above it.
SINTER_SELDOM SINTER_COLD void make_folders_above(const std::string& file);

#if SINTER_BODIES
SINTER_SELDOM_BODY void make_folders(const std::string& path) {
    need_whole_path(path);
    const std::size_t end = path.find_last_not_of('/');
    const std::size_t slash = end == path.npos ? path.npos : path.rfind('/', end);
    const std::string above = slash == path.npos ? "." : path.substr(0, slash + 1);
    bool made = os::make_folder(path);
    if (!made && errno == ENOENT && slash != path.npos && slash > 0) {
        make_folders(path.substr(0, slash));
        made = os::make_folder(path);
    }
    if (!made) {
        const int fault = errno;
        if (fault != EEXIST) throw_io_error(fault, "cannot make the folder", path);
        const os::file_status status = os::status_of(path);
        if (!status) throw_io_error(errno, "cannot make the folder", path);
        if (!status.is_folder()) throw io_error("cannot make the folder", path, "a file of that name", "a folder");
        return;
    }
    // So that it is there after a power cut, too. Some file systems cannot sync a folder, and need not.
    if (const descriptor folder = os::open_folder(above)) (void)os::sync(folder.get());
}

SINTER_SELDOM_BODY void make_folders_above(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    if (slash != file.npos && slash > 0) make_folders(file.substr(0, slash));
}
#endif

} // namespace sinter::io
