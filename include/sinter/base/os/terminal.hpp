// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <cstdio>
#if SINTER_BODIES
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace sinter::base::inline os {

/// Whether what is written there is shown by a terminal.
SINTER_SELDOM bool is_terminal(std::FILE* out);
/// How many characters a line of it has; 0: it is no terminal, or does not say.
SINTER_SELDOM int terminal_columns(std::FILE* out);

#if SINTER_BODIES
SINTER_SELDOM_BODY bool is_terminal(std::FILE* out) { return ::isatty(::fileno(out)) == 1; }

SINTER_SELDOM_BODY int terminal_columns(std::FILE* out) {
    winsize size{};
    return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
#endif

} // namespace sinter::base::os
