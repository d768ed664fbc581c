// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <pthread.h>

namespace sinter::base::inline os {

/// Mutual exclusion of threads: what is needed of std::mutex, without its header, for what every program includes.
/// Needs no code to begin or to end. (Elsewhere: base::mutex, whose use clang checks.)
class posix_mutex {
public:
    constexpr posix_mutex() = default;
    posix_mutex(const posix_mutex&) = delete;
    posix_mutex& operator=(const posix_mutex&) = delete;
    void lock() { ::pthread_mutex_lock(&mutex_); }
    void unlock() { ::pthread_mutex_unlock(&mutex_); }

    /// Has it for as long as this lives.
    class guard {
    public:
        explicit guard(posix_mutex& m) : mutex_(m) { mutex_.lock(); }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
        ~guard() { mutex_.unlock(); }

    private:
        posix_mutex& mutex_;
    };

private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

} // namespace sinter::base::os
