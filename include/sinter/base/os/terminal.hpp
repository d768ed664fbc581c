// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sinter::base::inline os {

/// Whether what is written there is shown by a terminal.
inline bool is_terminal(std::FILE* out) { return ::isatty(::fileno(out)) == 1; }
/// How many characters a line of it has; 0: it is no terminal, or does not say.
inline int terminal_columns(std::FILE* out) {
    winsize size{};
    return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace sinter::base::os
