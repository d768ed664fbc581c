// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <atomic>
#include <cstdlib>
#include <new>

/// operator new of a program whose n-th allocation from some moment on fails, on any thread. To be included once, in a
/// test that is a program of its own.
namespace sinter::test {
inline std::atomic<long> fail_at{-1};   ///< counts down to the allocation that fails; below 0: none does

[[gnu::noinline]] inline void* allocated(std::size_t n, std::size_t align) {
    if (fail_at.load(std::memory_order_relaxed) >= 0 && fail_at.fetch_sub(1) == 0) return nullptr;
    return std::aligned_alloc(align, (n + align) / align * align);
}
[[gnu::noinline]] inline void* allocated_or_thrown(std::size_t n, std::size_t align) {
    if (void* p = allocated(n, align)) return p;
    throw std::bad_alloc();
}
} // namespace sinter::test

[[gnu::noinline]] void* operator new(std::size_t n) { return sinter::test::allocated_or_thrown(n, 16); }
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    return sinter::test::allocated(n, 16);
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
    return sinter::test::allocated_or_thrown(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
    return sinter::test::allocated(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
