// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/io/printable.hpp>
#include <string>

namespace sinter::inline SINTER_ORDINARY::io {

/// The folder for the checkpoints that a program names, or else its surroundings do; neither: an
/// empty text. Throws option_error where both do, and differ: half of a job's members would look in
/// a folder where nobody writes. `where`: the two options.
SINTER_APART std::string one_folder(const std::string& named, const std::string& found, const char* where);

#if SINTER_BODIES
SINTER_COLD SINTER_APART std::string one_folder(const std::string& named, const std::string& found, const char* where) {
    if (named.empty()) return found;
    if (!found.empty() && found != named)
        throw option_error("two folders for the checkpoints", where,
                           io::printable(named) + " and " + io::printable(found), "one of them, or the same twice");
    return named;
}
#endif

} // namespace sinter::io
