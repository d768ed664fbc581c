// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/blocked_signals.hpp>
#include <sinter/base/os/fork.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/base/target_namespace.hpp>
#include <chrono>
#include <functional>
#include <memory>

#if !__has_include(<boost/asio/io_context.hpp>)
#error "sinter/net needs Boost's headers: install them (on Debian or Ubuntu: apt-get install libboost-dev)"
#endif
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

/// Asio as Sinter uses it: one thread that waits for sockets to be ready and for times to come, and
/// calls functions. Reading and writing are left to channels.
namespace sinter::inline SINTER_ORDINARY::wire {

class event_loop {
public:
    event_loop() : work_(boost::asio::make_work_guard(context_)) {}
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;
    ~event_loop() { stop(); }

    /// Starts the thread. It takes no signals. An exception of a function is given to
    /// `on_exception`, in place of an end of the program.
    void start(std::function<void(const char*)> on_exception) {
        on_exception_ = std::move(on_exception);
        forks_ = base::forks::so_far();
        const base::blocked_signals none;
        thread_ = base::posix_thread([this] { run(); });
    }
    /// Has f called by the thread.
    void post(std::function<void()> f) { boost::asio::post(context_, std::move(f)); }
    /// Ends the thread after the function that it is in. Nothing that waits is called any more.
    void stop() {
        if (!thread_.joinable()) return;
        if (forks_ != base::forks::so_far()) return thread_.forget();   // a forked child has no such thread
        context_.stop();
        thread_.join();
    }
    boost::asio::io_context& context() { return context_; }

private:
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::function<void(const char*)> on_exception_;
    base::posix_thread thread_;
    unsigned forks_ = 0;

    void run() {
        for (;;) try {
                context_.run();
                return;
            } catch (const std::exception& e) {
                on_exception_(e.what());
            }
    }
};

namespace detail {
/// A function that is called only while the object that asked for it lives and has not asked anew.
struct call_if_current {
    std::shared_ptr<unsigned> current;
    unsigned wanted;
    std::function<void()> f;
    void operator()(const boost::system::error_code& fault) {
        if (!fault && *current == wanted) f();
    }
};
} // namespace detail

/// Calls a function once, some seconds from now. All of it on the loop's thread.
class alarm {
public:
    explicit alarm(event_loop& loop) : timer_(loop.context()) {}
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;
    ~alarm() { ++*current_; }
    /// Replaces what was asked for before.
    void in(double seconds, std::function<void()> f) {
        timer_.expires_after(std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6)));
        timer_.async_wait(detail::call_if_current{current_, ++*current_, std::move(f)});
    }
    void off() {
        ++*current_;
        timer_.cancel();
    }

private:
    // Of io_context's own executor: one that may be any costs as much to compile as the rest of
    // Asio.
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                      boost::asio::io_context::executor_type>
        timer_;
    std::shared_ptr<unsigned> current_ = std::make_shared<unsigned>(0);
};

/// Calls a function once a descriptor is ready. The descriptor stays its owner's and must live
/// longer. All of it on the loop's thread.
class watch {
    using descriptor = boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

public:
    watch(event_loop& loop, int fd) : descriptor_(loop.context(), fd) {}
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    ~watch() {
        ++*current_[0];
        ++*current_[1];
        descriptor_.release();
    }
    void readable(std::function<void()> f) { wait(0, descriptor::wait_read, std::move(f)); }
    void writable(std::function<void()> f) { wait(1, descriptor::wait_write, std::move(f)); }

private:
    descriptor descriptor_;
    std::shared_ptr<unsigned> current_[2] = {std::make_shared<unsigned>(0), std::make_shared<unsigned>(0)};

    void wait(int i, descriptor::wait_type what, std::function<void()> f) {
        descriptor_.async_wait(what, detail::call_if_current{current_[i], ++*current_[i], std::move(f)});
    }
};

} // namespace sinter::wire
