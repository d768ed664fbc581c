// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <sinter/collective/first_error.hpp>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::collective::detail {

/// What ends the waits of threads when their job fails.
class thread_waits {
public:
    virtual ~thread_waits() = default;
    virtual void wake() noexcept = 0;
};

/// What all threads of a job share: its first error, and who waits.
class thread_job {
public:
    std::atomic<bool> asked_to_stop{false};
    first_error& error() { return error_; }
    void fail(const cluster_error& e) noexcept {
        error_.set(e);
        const std::lock_guard hold(mutex_);
        for (thread_waits* const w : waits_) w->wake();
    }
    void add(thread_waits* w) {
        const std::lock_guard hold(mutex_);
        waits_.push_back(w);
    }
    void remove(thread_waits* w) {
        const std::lock_guard hold(mutex_);
        std::erase(waits_, w);
    }

private:
    first_error error_;
    std::mutex mutex_;
    std::vector<thread_waits*> waits_;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective::detail
