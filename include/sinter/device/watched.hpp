// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sched.h>
#include <time.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sinter {

/// Tells the processor that this is a spin loop.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// A number that some threads change while others wait for that: what is needed of std::atomic<int>, whose header takes every
/// program 8 MB to compile, and a kilobyte of code wherever one waits.
class watched {
public:
    int load() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
    void store(int value) { __atomic_store_n(&value_, value, __ATOMIC_SEQ_CST); }
    int exchange(int value) { return __atomic_exchange_n(&value_, value, __ATOMIC_SEQ_CST); }
    int add(int n) { return __atomic_fetch_add(&value_, n, __ATOMIC_SEQ_CST); }   ///< returns what it was before

    /// Wakes all that sleep until the value changes, which it has.
    void notify() {
        // A sleeper counts itself before it looks at the value for the last time, so either it sees the change or it is seen here.
        if (__atomic_load_n(&sleepers_, __ATOMIC_SEQ_CST) == 0) return;
#if defined(__linux__)
        ::syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, __INT_MAX__, nullptr, nullptr, 0);
#endif
    }
    /// Returns once the value differs from `old`. Spins a dozen microseconds, since waking a sleeper takes 25 to 60; then
    /// offers its core to others, since whoever is waited for may need it; then sleeps until notified.
    void await_change(int old, bool may_spin) {
        for (int i = may_spin ? 400 : 0; i > 0; --i) {
            if (load() != old) return;
            relax();
        }
        for (int i = 0; i < 50; ++i) {
            if (load() != old) return;
            ::sched_yield();
        }
        sleep_until_changed(old);
    }

private:
    int value_ = 0;
    int sleepers_ = 0;

    void sleep_until_changed(int old) {
        __atomic_fetch_add(&sleepers_, 1, __ATOMIC_SEQ_CST);
        while (load() == old) {
#if defined(__linux__)
            ::syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);   // not if it has changed
#else
            const timespec a_while{0, 50'000};
            ::nanosleep(&a_while, nullptr);
#endif
        }
        __atomic_fetch_sub(&sleepers_, 1, __ATOMIC_SEQ_CST);
    }
};

} // namespace sinter
