// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <atomic>
#include <mutex>
#include <sched.h>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A mutex that somebody may hold for long who gives way to others now and then.
class yielding_mutex {
public:
    void lock() {
        if (mutex_.try_lock()) return;
        ++waiting_;
        mutex_.lock();
        --waiting_;
        turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    bool try_lock() { return mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }
    /// By who holds it: if somebody waits, it has it first.
    void give_way() {
        if (waiting_.load() == 0) return;
        const unsigned before = turns_.load(std::memory_order_relaxed);
        mutex_.unlock();
        // (A plain mutex would be taken again before the one that waits has woken up.)
        for (int looks = 0; waiting_.load() > 0 && turns_.load() == before && looks < 10'000; ++looks) ::sched_yield();
        lock();
    }

private:
    std::mutex mutex_;
    std::atomic<int> waiting_{0};
    std::atomic<unsigned> turns_{0};   ///< how often one that waited got it
};

} // namespace sinter::parameter_servers
