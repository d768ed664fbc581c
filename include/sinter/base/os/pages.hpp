// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstddef>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

/// Advice to the system about memory of this process. Both take whole pages.
namespace sinter::base::inline os {

/// Asks for huge pages, which the system may refuse.
inline void prefer_huge_pages([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    ::madvise(at, bytes, MADV_HUGEPAGE);
#endif
}
/// Gives the pages of memory from the heap back to the system: they read as zeros, and take memory again when they are
/// written. False: that cannot be had, and they are as they were.
inline bool give_back_pages([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_DONTNEED
    return ::madvise(at, bytes, MADV_DONTNEED) == 0;
#else
    return false;
#endif
}

} // namespace sinter::base::os
