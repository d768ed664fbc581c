// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/thread_safety.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

/// A mutex whose use clang checks (base/thread_safety.hpp). std::mutex has no such marks in libstdc++.
namespace sinter::base {

class SINTER_CAPABILITY("mutex") mutex {
public:
    void lock() SINTER_ACQUIRE() { held_.lock(); }
    void unlock() SINTER_RELEASE() { held_.unlock(); }
    bool try_lock() SINTER_TRY_ACQUIRE(true) { return held_.try_lock(); }

private:
    friend class condition;
    std::mutex held_;
};

/// Holds a mutex to the end of a block, or to unlock().
class SINTER_SCOPED_CAPABILITY mutex_lock {
public:
    explicit mutex_lock(mutex& m) SINTER_ACQUIRE(m) : mutex_(m) { mutex_.lock(); }
    ~mutex_lock() SINTER_RELEASE() {
        if (held_) mutex_.unlock();
    }
    mutex_lock(const mutex_lock&) = delete;
    mutex_lock& operator=(const mutex_lock&) = delete;
    void unlock() SINTER_RELEASE() {
        held_ = false;
        mutex_.unlock();
    }
    void lock() SINTER_ACQUIRE() {
        mutex_.lock();
        held_ = true;
    }

private:
    mutex& mutex_;
    bool held_ = true;
};

/// Lets go of a mutex that is held, and takes it again at the end of the block, also where that ends by an exception.
/// For functions that are called under the mutex and have something to do without it.
class SINTER_SCOPED_CAPABILITY mutex_release {
public:
    explicit mutex_release(mutex& m) SINTER_RELEASE(m) : mutex_(m) { mutex_.unlock(); }
    ~mutex_release() SINTER_RELEASE() { mutex_.lock(); }   // (so says clang: what it has done is over)
    mutex_release(const mutex_release&) = delete;
    mutex_release& operator=(const mutex_release&) = delete;

private:
    mutex& mutex_;
};

/// A condition variable for such a mutex: each wait lets go of it and has it again afterwards.
class condition {
public:
    void notify_all() noexcept { changed_.notify_all(); }
    void wait(mutex& m) SINTER_REQUIRES(m) {
        std::unique_lock hold(m.held_, std::adopt_lock);
        changed_.wait(hold);
        hold.release();
    }
    /// Until done(), which is called under the mutex: a lambda says so by SINTER_REQUIRES(mutex). (clang cannot see
    /// that the mutex it names is this one.)
    template <class Done>
    void wait(mutex& m, Done done) SINTER_REQUIRES(m) SINTER_NO_THREAD_SAFETY_ANALYSIS {
        while (!done()) wait(m);
    }
    /// At most so many seconds.
    void wait_for(mutex& m, double seconds) SINTER_REQUIRES(m) {
        std::unique_lock hold(m.held_, std::adopt_lock);
        changed_.wait_for(hold, std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6)));
        hold.release();
    }

private:
    std::condition_variable changed_;
};

} // namespace sinter::base
