// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/function_ref.hpp>
#include <sinter/base/os/folder.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <string_view>

namespace sinter::inline SINTER_ORDINARY::io {

/// Calls f(name) for each entry of a folder, . and .. among them; 0, or errno where it cannot be read to its end.
SINTER_SELDOM SINTER_COLD int try_each_name(const std::string& folder, base::function_ref<void(std::string_view)> f);
/// The same of a folder that need not be there. Throws io_error where it cannot be read: who took that for an empty
/// one would begin a run anew that it should go on with.
SINTER_SELDOM SINTER_COLD void for_each_name(const std::string& folder, base::function_ref<void(std::string_view)> f);

#if SINTER_BODIES
SINTER_SELDOM_BODY int try_each_name(const std::string& folder, base::function_ref<void(std::string_view)> f) {
    os::folder_names names(folder);
    while (const char* const name = names.next()) f(std::string_view(name));
    return names.fault();
}

SINTER_SELDOM_BODY void for_each_name(const std::string& folder, base::function_ref<void(std::string_view)> f) {
    if (const int fault = try_each_name(folder, f); fault != 0 && fault != ENOENT)
        throw_io_error(fault, "cannot list the folder", folder);
}
#endif

} // namespace sinter::io
