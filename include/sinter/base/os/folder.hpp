// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/os/descriptor.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <dirent.h>
#include <string>
#if SINTER_BODIES
#include <fcntl.h>
#include <sys/stat.h>
#endif

namespace sinter::base::inline os {

/// Makes a folder in one that is there; mode 0777, less the process's mask. False: errno, EEXIST where there is
/// anything of that name.
SINTER_SELDOM SINTER_COLD bool make_folder(const std::string& path);
/// Removes one that is empty. False: errno.
SINTER_SELDOM SINTER_COLD bool remove_folder(const std::string& path);

/// The names in a folder, one after the other, . and .. among them.
class folder_names {
public:
    SINTER_APART explicit folder_names(const std::string& path);
    /// Of an open folder, which stays open.
    SINTER_APART explicit folder_names(int folder);
    folder_names(const folder_names&) = delete;
    folder_names& operator=(const folder_names&) = delete;
    SINTER_APART ~folder_names();
    /// Valid until the next call. Null: there are no more, or the folder cannot be read. Allocates nothing.
    SINTER_SELDOM SINTER_COLD const char* next();
    int fault() const { return fault_; }   ///< errno, where it could not be read to its end; else 0

private:
    DIR* entries_ = nullptr;
    int fault_ = 0;
};

#if SINTER_BODIES
SINTER_SELDOM_BODY bool make_folder(const std::string& path) { return ::mkdir(path.c_str(), 0777) == 0; }

SINTER_SELDOM_BODY bool remove_folder(const std::string& path) { return ::rmdir(path.c_str()) == 0; }

SINTER_COLD SINTER_APART folder_names::folder_names(const std::string& path)
    : entries_(::opendir(path.c_str())) {
    if (!entries_) fault_ = errno;
}

SINTER_COLD SINTER_APART folder_names::folder_names(int folder) {
    const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);   // closedir() closes it
    if (again >= 0) entries_ = ::fdopendir(again);
    if (entries_) return;
    fault_ = errno;
    if (again >= 0) ::close(again);
}

SINTER_APART folder_names::~folder_names() {
    if (entries_) ::closedir(entries_);
}

SINTER_SELDOM_BODY const char* folder_names::next() {
    if (fault_) return nullptr;
    errno = 0;
    const dirent* const e = ::readdir(entries_);
    if (e) return e->d_name;
    fault_ = errno;
    return nullptr;
}
#endif

} // namespace sinter::base::os
