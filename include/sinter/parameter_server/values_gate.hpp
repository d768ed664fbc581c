// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// A lock that those share who change a shard's values, and that one has alone who needs all of them unchanged: he
/// goes before those who share it and come later. Who waits may give up after a while, and say meanwhile that he
/// lives. Works with std::unique_lock and std::shared_lock.
class values_gate {
public:
    void lock() { take<true>(clock::time_point::max()); }
    void lock_shared() { take<false>(clock::time_point::max()); }
    /// False: it was not free within so many seconds.
    bool try_lock_for(double seconds) { return take<true>(in(seconds)); }
    bool try_lock_shared_for(double seconds) { return take<false>(in(seconds)); }
    void unlock() {
        const std::lock_guard hold(mutex_);
        alone_ = false;
        if (wait_alone_ + wait_ > 0) changed_.notify_all();
    }
    void unlock_shared() {
        const std::lock_guard hold(mutex_);
        if (--sharing_ == 0 && wait_alone_ > 0) changed_.notify_all();
    }

private:
    using clock = std::chrono::steady_clock;
    std::mutex mutex_;
    std::condition_variable changed_;
    int sharing_ = 0, wait_ = 0, wait_alone_ = 0;
    bool alone_ = false;

    static clock::time_point in(double seconds) {
        return clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
    }
    template <bool Alone>
    bool take(clock::time_point until) {
        std::unique_lock hold(mutex_);
        const auto is_free = [&] { return !alone_ && (Alone ? sharing_ == 0 : wait_alone_ == 0); };
        int& waiting = Alone ? wait_alone_ : wait_;
        for (++waiting; !is_free();) {
            if (until == clock::time_point::max()) {
                changed_.wait(hold);
            } else if (changed_.wait_until(hold, until) == std::cv_status::timeout && !is_free()) {
                --waiting;
                changed_.notify_all();   // some may have let this one go first
                return false;
            }
        }
        --waiting;
        if (Alone) alone_ = true;
        else ++sharing_;
        return true;
    }
};

} // namespace sinter::parameter_servers
