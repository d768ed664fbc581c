// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include <sinter/base/error.hpp>
#include <sinter/base/joined.hpp>
#include <sinter/device/denormals.hpp>
#include <sinter/device/patience.hpp>

namespace sinter {

/// Cores that this process may use.
inline int usable_cores() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    const unsigned n = std::thread::hardware_concurrency();
    return n ? static_cast<int>(n) : 1;
}

/// Threads that do one thing together, over and over: the caller is one of them, the others wait in between. Denormal
/// numbers are flushed to zero in all of them while they work. A run allocates nothing.
///
/// One run at a time, begun by one thread, and not from inside a run.
class team {
public:
    static constexpr int most = 1024;

    /// `threads` in all; 0: one for each usable core. Throws option_error, or std::system_error where the system
    /// grants no more threads.
    SINTER_COLD explicit team(int threads = 0) : size_(threads ? threads : usable_cores()) {
        if (threads < 0 || threads > most)
            throw option_error("number of threads", "team", joined({threads}), joined({"0 to ", most}));
        may_spin_ = size_ <= usable_cores();   // with fewer cores than threads, spinning keeps others from working
        others_.reserve(static_cast<std::size_t>(size_ - 1));
        try {
            for (int t = 1; t < size_; ++t) others_.emplace_back([this, t] { serve(t); });
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
            const_cast<void*>(static_cast<const void*>(std::addressof(f))));
    }

    /// Inside a run: returns when all threads have come here; what they wrote before is then visible to all.
    void barrier() {
        const int phase = phase_;   // before the look at failed_: whoever fails later will change it
        if (failed_) throw abandoned{};
        if (arrived_.fetch_add(1) + 1 == size_) {
            arrived_ = 0;
            phase_.fetch_add(1);
            phase_.notify_all();
        } else {
            await_change(phase_, phase, may_spin_);
        }
        if (failed_) throw abandoned{};
    }

private:
    using job = void (*)(void* context, int thread);
    struct abandoned {};   ///< unwinds a thread whose barrier will never be complete

    void run(job f, void* context) {
        if (size_ == 1) {   // nobody to be told or waited for: the rest would take longer than a tiny net's prediction
            const flush_denormals here;
            return f(context, 0);
        }
        job_ = f;
        context_ = context;
        arrived_ = 0;
        failed_ = false;
        pending_ = size_;
        begun_.fetch_add(1);
        begun_.notify_all();
        {
            const flush_denormals here;
            execute(0);
        }
        for (int left; (left = pending_.load(std::memory_order_acquire)) != 0;) await_change(pending_, left, may_spin_);
        if (failed_) std::rethrow_exception(std::exchange(error_, nullptr));
    }

    void serve(int thread) {
        const flush_denormals here;
        for (int seen = 0;; ++seen) {
            await_change(begun_, seen, may_spin_);
            if (dismissed_) return;
            execute(thread);
        }
    }

    void execute(int thread) {
        try {
            job_(context_, thread);
        } catch (const abandoned&) {
        } catch (...) {
            if (!claimed_error_.exchange(true)) error_ = std::current_exception();
            failed_ = true;
            phase_.fetch_add(1);
            phase_.notify_all();
        }
        if (pending_.fetch_sub(1) == 1) {
            claimed_error_ = false;
            pending_.notify_all();
        }
    }

    SINTER_COLD void dismiss() {
        dismissed_ = true;
        begun_.fetch_add(1);
        begun_.notify_all();
        for (std::thread& t : others_) t.join();
    }

    // Each on its own cache line: they are written by different threads at different times.
    alignas(64) std::atomic<int> begun_{0};     ///< counts runs
    alignas(64) std::atomic<int> pending_{0};   ///< threads still in this run
    alignas(64) std::atomic<int> arrived_{0};   ///< threads at the barrier
    alignas(64) std::atomic<int> phase_{0};     ///< counts complete barriers, and failures
    alignas(64) std::atomic<bool> failed_{false};
    std::atomic<bool> claimed_error_{false}, dismissed_{false};
    int size_;
    bool may_spin_ = true;
    job job_ = nullptr;
    void* context_ = nullptr;
    std::exception_ptr error_;
    std::vector<std::thread> others_;
};

} // namespace sinter
