// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/io/throw_io_error.hpp>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <sys/eventfd.h>

namespace sinter::inline SINTER_ORDINARY::wire {

/// The first error that a member learns of; later ones are consequences. Any thread may ask.
class first_error {
public:
    first_error() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!event_) io::throw_io_error(errno, "cannot make an event", "eventfd");
    }
    /// False: there was one before. Where there is no memory for it, that is the error.
    bool set(const cluster_error& e) noexcept {
        {
            const std::lock_guard hold(mutex_);
            if (there_.load(std::memory_order_relaxed)) return false;
            try {
                error_.emplace(e);
            } catch (const std::bad_alloc&) {
            }
        }
        there_.store(true, std::memory_order_release);
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto n = io::uninterrupted([&] { return ::write(event_.get(), &one, sizeof one); });
        return true;
    }
    bool there() const noexcept { return there_.load(std::memory_order_acquire); }
    void check() const {
        if (there()) throw cluster_error(get());
    }
    /// Only if there(). Throws bad_alloc where there was no memory for it.
    cluster_error get() const {
        const std::lock_guard hold(mutex_);
        if (!error_) throw std::bad_alloc();
        return *error_;
    }
    int descriptor() const { return event_.get(); }

private:
    mutable std::mutex mutex_;
    std::optional<cluster_error> error_;
    std::atomic<bool> there_{false};
    io::descriptor event_;
};

} // namespace sinter::wire
