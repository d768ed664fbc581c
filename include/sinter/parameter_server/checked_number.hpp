// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <string_view>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Steps, clocks and versions stay below this, so that sums of some of them are numbers, too.
inline constexpr std::int64_t most_count = INT64_MAX / 4;

/// Looks at a number that came from a file or from another process before it is used. Throws
/// format_error where it is not within [least, most].
inline void check_number(std::int64_t n, std::int64_t least, const char* what, const char* where,
                         std::int64_t most = most_count) {
    if (n < least || n > most) throw format_error(what, where, to_text({n}), to_text({least, " to ", most}));
}
/// The same of a text: of at most so many bytes.
SINTER_COLD inline void check_text(std::string_view text, std::size_t most, const char* where) {
    if (text.size() > most)
        throw format_error("is too long", where, to_text({text.size(), " bytes"}), to_text({most, " at most"}));
}

} // namespace sinter::parameter_servers
