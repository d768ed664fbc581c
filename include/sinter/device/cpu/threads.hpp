// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <sinter/base/error.hpp>
#include <sinter/base/os/fork.hpp>
#include <sinter/base/to_text.hpp>
#include <sinter/base/patience.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/device/cpu/denormals.hpp>

namespace sinter::inline SINTER_TARGET::runtime {

/// Threads that do one thing together, over and over: the caller is one of them, the others wait in
/// between. Denormal numbers are flushed to zero in all of them while they work. A run allocates
/// nothing.
///
/// One run at a time, begun by one thread, and not from inside a run. Where fork() was called
/// between two runs, the child's first run begins as many threads anew (the parent's did not come
/// along).
class team {
public:
    static constexpr int most = 1024;

    /// `threads` in all; 0: one for each usable core. Throws option_error, or device_error where
    /// the system grants no more threads.
    SINTER_COLD explicit team(int threads = 0) : size_(threads ? threads : usable_cores()) {
        if (threads < 0 || threads > most)
            throw option_error("number of threads", "team", to_text({threads}), to_text({"0 to ", most}));
        if (size_ > 1) presences_ = std::make_unique<presence[]>(static_cast<std::size_t>(size_));
        may_spin_ = size_ <= usable_cores();   // with fewer cores than threads, spinning keeps others from working
        if (size_ > 1) begin_others();
    }
    ~team() { dismiss(); }
    team(const team&) = delete;
    team& operator=(const team&) = delete;

    int size() const noexcept { return size_; }

    /// f(0), ..., f(size() - 1), each on its own thread, f(0) on the caller's; returns when all
    /// have. What one of them throws comes out of run (the first, if several do); the others are
    /// released from their barriers.
    template <class F>
    void run(F&& f) {
        using callee = std::remove_reference_t<F>;
        run([](void* called, int thread) { (*static_cast<callee*>(called))(thread); },
            const_cast<void*>(static_cast<const void*>(std::addressof(f))));
    }

    /// Inside a run, by thread `thread`: returns when all threads have come here; what they wrote
    /// before is then visible to all.
    void barrier(int thread) {
        if (size_ == 1) return;
        if (failed_) throw abandoned{};
        const unsigned before = arrive(thread);   // all have come here as often, but for those that are on their way
        for (int t = 0; t < size_; ++t)
            if (t != thread) await_change(presence_of(t).arrivals, before, may_spin_, &presence_of(thread).waits);
        if (failed_) throw abandoned{};
    }

private:
    using job = void (*)(void* context, int thread);
    struct abandoned {};   ///< unwinds a thread whose barrier will never be complete
    /// What one thread writes and the others wait for: each on a cache line of its own, which goes
    /// from core to core once. A counter that all add to, and another one that says when all have,
    /// would go thrice for each barrier.
    struct alignas(64) presence {
        std::atomic<unsigned> arrivals{0};   ///< at barriers
        std::atomic<unsigned> ends{0};       ///< of runs
        patience waits;                      ///< its own at barriers
    };

    void run(job f, void* context) {
        if (size_ == 1) {   // nobody to be told or waited for: the rest would take longer than a tiny net's prediction
            const flush_denormals here;
            return f(context, 0);
        }
        if (forks_ != forks::so_far()) begin_anew();
        job_ = f;
        context_ = context;
        const unsigned before = begun_.fetch_add(1);
        begun_.notify_all();
        {
            const flush_denormals here;
            execute(0);
        }
        for (int t = 1; t < size_; ++t) await_change(presence_of(t).ends, before, may_spin_);
        if (!failed_) return;
        for (int t = 0; t < size_; ++t) presence_of(t).arrivals = 0;   // some have not come to all barriers
        failed_ = claimed_error_ = false;
        std::rethrow_exception(std::exchange(error_, nullptr));
    }

    void serve(int thread) {
        const flush_denormals here;
        for (unsigned seen = 0;; ++seen) {
            await_change(begun_, seen, may_spin_);
            if (dismissed_) return;
            execute(thread);
            std::atomic<unsigned>& ends = presence_of(thread).ends;
            ends.fetch_add(1);
            ends.notify_all();
        }
    }

    void execute(int thread) {
        try {
            job_(context_, thread);
        } catch (const abandoned&) {
            arrive(thread);   // whoever waits for this thread finds that a run has failed
        } catch (...) {
            if (!claimed_error_.exchange(true)) error_ = std::current_exception();
            failed_ = true;
            arrive(thread);
        }
    }

    /// Returns how often the thread had come to a barrier before.
    unsigned arrive(int thread) {
        // The others' are on their way while this one is written.
        for (int t = 0; t < size_; ++t) __builtin_prefetch(&presence_of(t));
        const unsigned before = presence_of(thread).arrivals.fetch_add(1);
        presence_of(thread).arrivals.notify_all();
        return before;
    }

    SINTER_COLD void begin_others() {
        forks_ = forks::so_far();
        if (!others_) others_ = std::make_unique<posix_thread[]>(static_cast<std::size_t>(size_));
        try {
            for (int t = 1; t < size_; ++t) other(t) = posix_thread([this, t] { serve(t); });
        } catch (...) {
            dismiss();
            throw;
        }
    }
    /// In a forked child: as if nothing had run yet.
    SINTER_COLD void begin_anew() {
        for (int t = 1; t < size_; ++t) other(t).forget();
        begun_ = 0;
        failed_ = claimed_error_ = dismissed_ = false;
        for (int t = 0; t < size_; ++t) presence_of(t).arrivals = presence_of(t).ends = 0;
        begin_others();
    }
    SINTER_COLD void dismiss() {
        if (size_ == 1) return;
        const bool forked = forks_ != forks::so_far();
        dismissed_ = true;
        begun_.fetch_add(1);
        begun_.notify_all();
        for (int t = 1; t < size_; ++t)
            if (forked) other(t).forget();
            else if (other(t).joinable()) other(t).join();
    }

    posix_thread& other(int thread) { return others_[static_cast<std::size_t>(thread)]; }
    presence& presence_of(int thread) { return presences_[static_cast<std::size_t>(thread)]; }

    alignas(64) std::atomic<unsigned> begun_{
        0};   ///< counts runs, modulo its size; what a run is lies in the same line
    job job_ = nullptr;
    void* context_ = nullptr;
    alignas(64) std::atomic<bool> failed_{false};
    std::atomic<bool> claimed_error_{false}, dismissed_{false};
    int size_;
    unsigned forks_ = 0;   ///< that others_ were begun under
    bool may_spin_ = true;
    std::unique_ptr<presence[]> presences_;
    std::exception_ptr error_;
    std::unique_ptr<posix_thread[]> others_;   ///< from 1 on; the caller is number 0
};

} // namespace sinter::runtime
