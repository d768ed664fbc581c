// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <fstream>
#include <string>

namespace sinter::test {

/// The most memory that this process has had, in MB; from now on where the system lets it begin anew.
inline double peak_megabytes(bool anew = false) {
    if (anew) std::ofstream("/proc/self/clear_refs") << 5;
    std::ifstream f("/proc/self/status");
    for (std::string word; f >> word;)
        if (word == "VmHWM:") {
            double kilobytes = 0;
            f >> kilobytes;
            return kilobytes / 1024;
        }
    return -1;
}

/// Whether this program is built with the address sanitizer, whose own memory hides how much a program needs.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

} // namespace sinter::test
