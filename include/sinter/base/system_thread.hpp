// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <pthread.h>
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/owner.hpp>
#include <system_error>
#include <utility>

/// Threads of the system's, and what they need to hand things over: a small part of <thread>, <mutex> and <condition_variable>,
/// which take every program 30 MB and 0.13 s to compile.
namespace sinter {

/// A thread that is joined before its object goes.
class system_thread {
public:
    system_thread() = default;
    /// Calls f() in a thread of its own; nothing may be thrown out of it. device_error where the system grants no more threads.
    template <class F>
    SINTER_COLD explicit system_thread(F f) {
        owner<F> callee(new F(std::move(f)));
        const int fault = ::pthread_create(&id_, nullptr, &serve<F>, callee.get());
        if (fault != 0) throw device_error("cannot begin a thread", "this machine", std::generic_category().message(fault));
        callee.release();
        runs_ = true;
    }
    system_thread(system_thread&& other) noexcept : id_(other.id_), runs_(std::exchange(other.runs_, false)) {}
    system_thread& operator=(system_thread&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(runs_, other.runs_);
        return *this;
    }
    ~system_thread() { join(); }

    explicit operator bool() const { return runs_; }   ///< it has begun and was not joined yet
    void join() {
        if (std::exchange(runs_, false)) ::pthread_join(id_, nullptr);
    }

private:
    template <class F>
    static void* serve(void* f) noexcept {
        const owner<F> callee(static_cast<F*>(f));
        (*callee)();
        return nullptr;
    }
    pthread_t id_{};
    bool runs_ = false;
};

class system_mutex {
public:
    system_mutex() = default;
    system_mutex(const system_mutex&) = delete;
    system_mutex& operator=(const system_mutex&) = delete;
    ~system_mutex() { ::pthread_mutex_destroy(&is_); }
    void lock() { ::pthread_mutex_lock(&is_); }
    void unlock() { ::pthread_mutex_unlock(&is_); }

private:
    friend class system_condition;
    pthread_mutex_t is_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex while it lives.
class locked {
public:
    explicit locked(system_mutex& m) : is_(m) { is_.lock(); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
    ~locked() { is_.unlock(); }

private:
    system_mutex& is_;
};

/// What threads that hold a mutex sleep for.
class system_condition {
public:
    system_condition() = default;
    system_condition(const system_condition&) = delete;
    system_condition& operator=(const system_condition&) = delete;
    ~system_condition() { ::pthread_cond_destroy(&is_); }
    void notify() { ::pthread_cond_signal(&is_); }
    /// Returns, with the mutex held, once `there()` is true; the mutex is free in between.
    template <class F>
    void wait(system_mutex& held, F there) {
        while (!there()) ::pthread_cond_wait(&is_, &held.is_);
    }

private:
    pthread_cond_t is_ = PTHREAD_COND_INITIALIZER;
};

} // namespace sinter
