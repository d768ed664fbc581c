// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <cerrno>
#include <exception>
#include <pthread.h>
#include <system_error>
#include <type_traits>
#include <utility>

namespace sinter::base::inline os {

/// A thread of execution: what is needed of std::thread, whose header brings clocks, semaphores and
/// stop tokens and costs every program 7 MB and 0.03 s of its build.
class posix_thread {
public:
    posix_thread() = default;
    /// Calls f() on a new thread. Throws device_error where the system grants none. What f() throws
    /// ends the program.
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, posix_thread>)
    explicit posix_thread(F&& f) {
        using callee = std::remove_cvref_t<F>;
        auto* const own = new callee(std::forward<F>(f));
        if (start(run<callee>, own)) return;
        delete own;
        refuse();
    }
    posix_thread(posix_thread&& other) noexcept
        : handle_(other.handle_), joinable_(std::exchange(other.joinable_, false)) {}
    posix_thread& operator=(posix_thread&& other) noexcept {
        if (joinable_) std::terminate();
        handle_ = other.handle_;
        joinable_ = std::exchange(other.joinable_, false);
        return *this;
    }
    ~posix_thread() {
        if (joinable_) std::terminate();
    }

    bool joinable() const noexcept { return joinable_; }
    /// Returns when the thread has ended.
    void join() {
        ::pthread_join(handle_, nullptr);
        joinable_ = false;
    }
    /// Lets the thread go on by itself, with what it owns.
    void detach() noexcept {
        ::pthread_detach(handle_);
        joinable_ = false;
    }
    /// Lets go of a thread that did not come along into a forked child: it can be neither joined
    /// nor detached there.
    void forget() noexcept { joinable_ = false; }

private:
    pthread_t handle_{};
    bool joinable_ = false;

    template <class F>
    static void* run(void* f) noexcept {
        (*static_cast<F*>(f))();
        delete static_cast<F*>(f);
        return nullptr;
    }
    SINTER_COLD bool start(void* (*begin)(void*), void* with) {
        const int fault = ::pthread_create(&handle_, nullptr, begin, with);
        joinable_ = fault == 0;
        if (fault) errno = fault;
        return joinable_;
    }
    [[noreturn]] SINTER_COLD static void refuse() {
        throw device_error("the system grants no more threads", "thread", std::generic_category().message(errno));
    }
};

} // namespace sinter::base::os
