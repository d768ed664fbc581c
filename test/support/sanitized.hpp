// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter::test {

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
