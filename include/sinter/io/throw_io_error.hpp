// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/target_namespace.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/os/descriptor.hpp>
#include <system_error>

/// What the system refuses, as an error.
namespace sinter::inline SINTER_ORDINARY::io {

/// Throws an io_error whose `got` is the system's own words for `errno_value`.
[[noreturn]] SINTER_APART SINTER_COLD void throw_io_error(int errno_value, std::string_view what,
                                                          std::string_view where, std::string_view needed = {});

/// io_error for a path with a zero byte in it: the system reads names to the first one, and would
/// open, or replace, another file.
SINTER_SELDOM SINTER_COLD void need_whole_path(const std::string& path);

#if SINTER_BODIES
SINTER_APART void throw_io_error(int errno_value, std::string_view what, std::string_view where,
                                 std::string_view needed) {
    throw io_error(what, where, std::generic_category().message(errno_value), needed);
}

SINTER_SELDOM_BODY void need_whole_path(const std::string& path) {
    if (const std::size_t at = path.find('\0'); at != std::string::npos)
        throw io_error("a path has a zero byte", path.substr(0, at), to_text({"one at place ", at}), "a path without");
}
#endif

} // namespace sinter::io
