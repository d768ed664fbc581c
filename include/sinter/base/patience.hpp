// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/processors.hpp>
#include <atomic>

namespace sinter::base {

/// Tells the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// What a thread has learned from its waits: a spin that was in vain tells that whoever is waited
/// for has no core of its own, perhaps even shares this one, and would have gone on at once. So the
/// next waits do not spin.
struct patience {
    static constexpr int next_waits = 64;
    int without_spin = 0;   ///< waits that will not
};

/// Returns once `value` differs from `old`. Spins a dozen microseconds, since waking a sleeper
/// takes 25 to 60; then offers its core to others, since whoever is waited for may need it; then
/// sleeps until notified.
inline void await_change(const std::atomic<unsigned>& value, unsigned old, bool may_spin, patience* own = nullptr) {
    const auto changed = [&] { return value.load(std::memory_order_acquire) != old; };
    if (own && own->without_spin > 0) {
        if (changed()) return;
        --own->without_spin;
        may_spin = false;
    }
    for (int i = may_spin ? 400 : 0; i > 0; --i) {
        if (changed()) return;
        relax();
    }
    if (own && may_spin) own->without_spin = patience::next_waits;
    for (int i = 0; i < 50; ++i) {
        if (changed()) return;
        yield_core();
    }
    value.wait(old, std::memory_order_acquire);
}

} // namespace sinter::base
