// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/io/system_call.hpp>
#include <dirent.h>
#include <memory>

namespace sinter::inline SINTER_TARGET::io {

/// Calls f(name) for each entry of a folder, . and .. among them; 0, or errno where it cannot be read to its end.
template <class F>
SINTER_COLD int try_each_name(const std::string& folder, F f) {
    const auto close = [](DIR* d) { ::closedir(d); };
    const std::unique_ptr<DIR, decltype(close)> entries(::opendir(folder.c_str()), close);
    if (!entries) return errno;
    for (;;) {
        errno = 0;
        const dirent* const e = ::readdir(entries.get());
        if (e == nullptr) return errno;
        f(std::string_view(e->d_name));
    }
}
/// The same of a folder that need not be there. Throws io_error where it cannot be read: who took that for an empty
/// one would begin a run anew that it should go on with.
template <class F>
SINTER_COLD void for_each_name(const std::string& folder, F f) {
    if (const int fault = try_each_name(folder, f); fault != 0 && fault != ENOENT)
        throw_io_error(fault, "cannot list the folder", folder);
}

} // namespace sinter::io
