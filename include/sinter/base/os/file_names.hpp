// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>

/// Names of files, and what becomes of them. False: it could not be done, or is not so, and errno says why.
namespace sinter::base::inline os {

/// Whether there is anything of that name. False and ENOENT: there is not; and another errno: nobody can say.
SINTER_COLD inline bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }
/// Whether this process, as the user that it acts for, may write a file in an open folder.
SINTER_COLD inline bool may_write(int folder, const std::string& name) {
    return ::faccessat(folder, name.c_str(), W_OK, AT_EACCESS) == 0;
}

/// Of a file, or a link: not of a folder.
SINTER_COLD inline bool remove_file(const std::string& path) { return ::unlink(path.c_str()) == 0; }
SINTER_COLD inline bool remove_file(int folder, const char* name) { return ::unlinkat(folder, name, 0) == 0; }
/// In one step: who looks for `to` finds the file of before or this one.
SINTER_COLD inline bool rename_file(const std::string& from, const std::string& to) {
    return ::rename(from.c_str(), to.c_str()) == 0;
}
SINTER_COLD inline bool rename_file(int folder, const std::string& from, const std::string& to) {
    return ::renameat(folder, from.c_str(), folder, to.c_str()) == 0;
}
/// The file gets one more name, which nothing may have.
SINTER_COLD inline bool add_name(const std::string& path, const std::string& also) {
    return ::link(path.c_str(), also.c_str()) == 0;
}
/// The path without links, `.` and `..`, from the root on; empty where it leads nowhere, and errno.
SINTER_COLD inline std::string canonical_path(const std::string& path) {
    const auto release = [](char* p) { std::free(p); };
    const std::unique_ptr<char, decltype(release)> found(::realpath(path.c_str(), nullptr), release);
    return found ? std::string(found.get()) : std::string();
}

} // namespace sinter::base::os
