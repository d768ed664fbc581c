// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <atomic>
#include <thread>

namespace sinter {

/// Tells the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Returns once `value` differs from `old`. Spins a dozen microseconds, since waking a sleeper takes 25 to 60; then
/// offers its core to others, since whoever is waited for may need it; then sleeps until notified.
inline void await_change(const std::atomic<unsigned>& value, unsigned old, bool may_spin) {
    for (int i = may_spin ? 400 : 0; i > 0; --i) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
    }
    for (int i = 0; i < 50; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        std::this_thread::yield();
    }
    value.wait(old, std::memory_order_acquire);
}

} // namespace sinter
