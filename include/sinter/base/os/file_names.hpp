// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string>
#if SINTER_BODIES
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#endif

/// Names of files, and what becomes of them. False: it could not be done, or is not so, and errno says why.
namespace sinter::base::inline os {

/// Whether there is anything of that name. False and ENOENT: there is not; and another errno: nobody can say.
SINTER_SELDOM SINTER_COLD bool exists(const std::string& path);
/// Whether this process, as the user that it acts for, may write a file in an open folder.
SINTER_SELDOM SINTER_COLD bool may_write(int folder, const std::string& name);

/// Of a file, or a link: not of a folder.
SINTER_SELDOM SINTER_COLD bool remove_file(const std::string& path);
SINTER_SELDOM SINTER_COLD bool remove_file(int folder, const char* name);
/// In one step: who looks for `to` finds the file of before or this one.
SINTER_SELDOM SINTER_COLD bool rename_file(const std::string& from, const std::string& to);
SINTER_SELDOM SINTER_COLD bool rename_file(int folder, const std::string& from, const std::string& to);
/// The file gets one more name, which nothing may have.
SINTER_SELDOM SINTER_COLD bool add_name(const std::string& path, const std::string& also);
/// The path without links, `.` and `..`, from the root on; empty where it leads nowhere, and errno.
SINTER_SELDOM SINTER_COLD std::string canonical_path(const std::string& path);

#if SINTER_BODIES
SINTER_SELDOM_BODY bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

SINTER_SELDOM_BODY bool may_write(int folder, const std::string& name) {
    return ::faccessat(folder, name.c_str(), W_OK, AT_EACCESS) == 0;
}

SINTER_SELDOM_BODY bool remove_file(const std::string& path) { return ::unlink(path.c_str()) == 0; }

SINTER_SELDOM_BODY bool remove_file(int folder, const char* name) { return ::unlinkat(folder, name, 0) == 0; }

SINTER_SELDOM_BODY bool rename_file(const std::string& from, const std::string& to) {
    return ::rename(from.c_str(), to.c_str()) == 0;
}

SINTER_SELDOM_BODY bool rename_file(int folder, const std::string& from, const std::string& to) {
    return ::renameat(folder, from.c_str(), folder, to.c_str()) == 0;
}

SINTER_SELDOM_BODY bool add_name(const std::string& path, const std::string& also) {
    return ::link(path.c_str(), also.c_str()) == 0;
}

SINTER_SELDOM_BODY std::string canonical_path(const std::string& path) {
    const auto release = [](char* p) { std::free(p); };
    const std::unique_ptr<char, decltype(release)> found(::realpath(path.c_str(), nullptr), release);
    return found ? std::string(found.get()) : std::string();
}
#endif

} // namespace sinter::base::os
