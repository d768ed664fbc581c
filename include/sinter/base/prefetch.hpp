// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

namespace sinter::base {

/// Asks for memory that is read soon, but for so much that it shall come to the second-level cache.
__attribute__((always_inline)) inline void prefetch_lines(const void* p, std::int64_t bytes) {
    constexpr std::int64_t line = 64;
    for (std::int64_t i = 0; i < bytes; i += line) __builtin_prefetch(static_cast<const char*>(p) + i, 0, 2);
}

} // namespace sinter::base
