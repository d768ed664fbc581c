// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <exception>
#include <sched.h>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/system_thread.hpp>
#include <sinter/device/denormals.hpp>
#include <sinter/device/watched.hpp>

namespace sinter {

/// Cores that this process may use.
inline int usable_cores() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    const long n = ::sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? static_cast<int>(n) : 1;
}

/// Threads that do one thing together, over and over: the caller is one of them, the others wait in between. Denormal
/// numbers are flushed to zero in all of them while they work. A run allocates nothing.
///
/// One run at a time, begun by one thread, and not from inside a run.
class team {
public:
    static constexpr int most = 1024;

    /// `threads` in all; 0: one for each usable core. Throws option_error, or device_error where the system
    /// grants no more threads.
    SINTER_COLD explicit team(int threads = 0) : size_(threads ? threads : usable_cores()) {
        if (threads < 0 || threads > most)
            throw option_error("number of threads", "team", std::to_string(threads), "0 to " + std::to_string(most));
        may_spin_ = size_ <= usable_cores();   // with fewer cores than threads, spinning keeps others from working
        others_ = owner<system_thread[]>(static_cast<std::size_t>(size_ - 1));
        try {
            for (int t = 1; t < size_; ++t) other(t) = system_thread([this, t] { serve(t); });
        } catch (...) {
            dismiss();
            throw;
        }
    }
    ~team() { dismiss(); }
    team(const team&) = delete;
    team& operator=(const team&) = delete;

    int size() const noexcept { return size_; }

    /// f(0), ..., f(size() - 1), each on its own thread, f(0) on the caller's; returns when all have. What one of them
    /// throws comes out of run (the first, if several do); the others are released from their barriers.
    template <class F>
    void run(F&& f) {
        using callee = std::remove_reference_t<F>;
        run([](void* context, int thread) { (*static_cast<callee*>(context))(thread); },
            const_cast<void*>(static_cast<const void*>(&f)));
    }
    /// The same for job(context, 0), ..., job(context, size() - 1).
    void run(void (*job)(void*, int), void* context) {
        job_ = job;
        context_ = context;
        if (size_ == 1) {   // nobody to be told or waited for: the rest would take longer than a tiny net's prediction
            const flush_denormals here;
            return job(context, 0);
        }
        arrived_.store(0);
        failed_.store(false);
        pending_.store(size_);
        begun_.add(1);
        begun_.notify();
        {
            const flush_denormals here;
            execute(0);
        }
        for (int left; (left = pending_.load()) != 0;) pending_.await_change(left, may_spin_);
        if (failed_.load()) std::rethrow_exception(std::exchange(error_, nullptr));
    }

    /// Inside a run: returns when all threads have come here; what they wrote before is then visible to all.
    void barrier() {
        const int phase = phase_.load();   // before the look at failed_: whoever fails later will change it
        if (failed_.load()) throw abandoned{};
        if (arrived_.add(1) + 1 == size_) {
            arrived_.store(0);
            phase_.add(1);
            phase_.notify();
        } else {
            phase_.await_change(phase, may_spin_);
        }
        if (failed_.load()) throw abandoned{};
    }

private:
    struct abandoned {};   ///< unwinds a thread whose barrier will never be complete

    void serve(int thread) {
        const flush_denormals here;
        for (int seen = 0;; ++seen) {
            begun_.await_change(seen, may_spin_);
            if (dismissed_.load()) return;
            execute(thread);
        }
    }

    void execute(int thread) {
        try {
            job_(context_, thread);
        } catch (const abandoned&) {
        } catch (...) {
            if (!claimed_error_.exchange(true)) error_ = std::current_exception();
            failed_.store(true);
            phase_.add(1);
            phase_.notify();
        }
        if (pending_.add(-1) == 1) {
            claimed_error_.store(false);
            pending_.notify();
        }
    }

    SINTER_COLD void dismiss() {
        dismissed_.store(true);
        begun_.add(1);
        begun_.notify();
        for (int t = 1; t < size_; ++t) other(t).join();
    }

    // Each on its own cache line: they are written by different threads at different times.
    alignas(64) watched begun_;     ///< counts runs
    alignas(64) watched pending_;   ///< threads still in this run
    alignas(64) watched arrived_;   ///< threads at the barrier
    alignas(64) watched phase_;     ///< counts complete barriers, and failures
    alignas(64) watched failed_;    ///< 0 or 1, as the next two
    watched claimed_error_, dismissed_;
    int size_;
    bool may_spin_ = true;
    void (*job_)(void*, int) = nullptr;
    void* context_ = nullptr;
    std::exception_ptr error_;
    owner<system_thread[]> others_;

    system_thread& other(int thread) { return others_[static_cast<std::size_t>(thread - 1)]; }
};

} // namespace sinter
