// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <string>
#include <vector>
#if SINTER_BODIES
#include <algorithm>
#include <cerrno>
#include <glob.h>
#endif

namespace sinter::base::inline os {

/// The paths that a pattern matches, as glob(3) and the shell do: * any text, ? one character, [a-c] one of these, none
/// of them a slash or a dot at a name's beginning; a backslash takes a character's meaning away. In the order of their
/// bytes, whatever the locale. `fault` is errno where a folder that is there cannot be read or memory is short, else 0.
SINTER_SELDOM SINTER_COLD std::vector<std::string> paths_like(const std::string& pattern, int& fault);

#if SINTER_BODIES
SINTER_SELDOM_BODY std::vector<std::string> paths_like(const std::string& pattern, int& fault) {
    struct matches : ::glob_t {
        matches() : ::glob_t{} {}
        matches(const matches&) = delete;
        ~matches() { ::globfree(this); }
    } found;
    errno = 0;
    const int result = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &found);
    const int why = errno;   // of a folder that cannot be read: one that is not there has no matches
    const bool none = result == 0 || result == GLOB_NOMATCH || (result == GLOB_ABORTED && why == ENOENT);
    fault = none ? 0 : result == GLOB_NOSPACE ? ENOMEM : why != 0 ? why : EIO;
    std::vector<std::string> paths;
    if (fault == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    std::sort(paths.begin(), paths.end());
    return paths;
}
#endif

} // namespace sinter::base::os
