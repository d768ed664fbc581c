// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/io/folder_names.hpp>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <system_error>

/// How many files and connections this process may have open, in numbers and as text.
namespace sinter::inline SINTER_ORDINARY::wire {

/// How this end begins to say why it takes no connection now: handshake::refusal::busy.
inline constexpr std::string_view too_few_descriptors = "it has no descriptor left";

struct descriptor_count {
    std::int64_t limit = -1;   ///< -1: not known, or without a limit
    std::int64_t open = -1;    ///< -1: not known
    std::int64_t left() const { return limit < 0 || open < 0 ? INT64_MAX : limit - open; }
    std::string text() const {
        return to_text({"at most ", limit, " files and connections at once (RLIMIT_NOFILE, ulimit -n)"});
    }
};
SINTER_COLD inline descriptor_count count_descriptors() {
    descriptor_count n;
    rlimit most{};
    if (::getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
        n.limit = static_cast<std::int64_t>(most.rlim_cur);
    std::int64_t names = 0;   // with ., .. and the descriptor that reads the folder
    if (io::try_each_name("/proc/self/fd", [&](std::string_view) { ++names; }) == 0 && names >= 3) n.open = names - 3;
    return n;
}

/// The system's words for an error number, and which limit it is about.
SINTER_COLD inline std::string error_text(int fault) {
    const std::string words = std::generic_category().message(fault);
    return fault == EMFILE ? to_text({words, ", for this process may have ", count_descriptors().text()}) : words;
}

} // namespace sinter::wire
