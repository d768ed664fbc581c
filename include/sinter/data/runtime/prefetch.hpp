// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/pipeline.hpp>
#if SINTER_BODIES
#include <sinter/base/os/fork.hpp>
#include <sinter/base/patience.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/data/runtime/batch_counts.hpp>
#include <atomic>
#include <exception>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

struct prefetch_step { int depth; };   ///< 0: by the batches' size

/// Up to `depth` batches ahead of the caller. option_error unless 1 <= depth <= 1024.
SINTER_SELDOM SINTER_COLD prefetch_step prefetch(int depth);
/// So many ahead as take a megabyte, but 2 to 16: small batches are used up while a sleeping thread
/// wakes.
SINTER_SELDOM SINTER_COLD prefetch_step prefetch();
SINTER_APART pipeline operator|(pipeline up, prefetch_step s);

#if SINTER_BODIES
/// Prepares batches on a thread of its own while the caller works on the one it has. Batches change
/// hands by swapping buffers with a ring of `depth`: nothing is copied, and nothing allocated once
/// the ring is there. Of the two sides' counters each is written by one and waited for by the
/// other. Waking a sleeper takes as long as a small net's step, so the worker is woken when half of
/// the ring is empty, and not for each batch. In a child of fork() another worker goes on behind
/// what was prepared; fork() waits until the batch that is being prepared is whole.
class prefetcher final : public batch_stage {
public:
    prefetcher(std::unique_ptr<batch_stage> up, int depth)
        : up_(std::move(up)), depth_(static_cast<unsigned>(depth)), ring_(new slot[depth_]) {}
    ~prefetcher() override { stop(); }
    const column_list& columns() const override { return up_->columns(); }
    int batch_size() const override { return up_->batch_size(); }
    std::int64_t size() const override { return up_->size(); }

    bool fill(batch_buffer& into) override {
        if (!worker_.joinable()) start();
        else if (forks_ != base::forks::so_far()) go_on();
        const unsigned taken = taken_.load(std::memory_order_relaxed);
        base::await_change(made_, taken, true);
        slot& s = ring_[next_];
        if (s.fault) {   // all that was made before it has been delivered
            finish();   // it has left its loop; the next call starts another, from where the fault arose
            std::rethrow_exception(std::exchange(s.fault, nullptr));
        }
        std::swap(into, s.buffer);
        const bool more = s.more;
        next_ = after(next_);
        taken_ = taken + 1;
        if (made_.load(std::memory_order_relaxed) - (taken + 1) <= depth_ / 2) taken_.notify_one();
        return more;
    }
    void seek(position to) override {
        stop();
        up_->seek(to);
    }
    SINTER_COLD void describe(description& d) const override { up_->describe(d); }   // how far ahead changes nothing

private:
    struct slot {
        batch_buffer buffer;
        bool more = false;
        std::exception_ptr fault;   ///< instead of a batch; the last thing that a worker makes
    };
    SINTER_COLD void start() {
        for (unsigned i = 0; i < depth_; ++i) {
            slot& s = ring_[i];
            if (!s.buffer) s.buffer = batch_buffer(up_->columns(), up_->batch_size());
            s.fault = nullptr;
        }
        next_ = 0;
        made_ = taken_ = 0;
        begin(0);
    }
    SINTER_COLD void begin(unsigned made) {
        stopping_ = false;
        forks_ = base::forks::so_far();
        const unsigned at = (next_ + (made - taken_)) % depth_;
        worker_ = base::posix_thread([this, made, at] { work(made, at); });
    }
    /// In a forked child, which has the ring but not the worker.
    SINTER_COLD void go_on() {
        worker_.forget();
        const unsigned made = made_;
        if (made != taken_ && ring_[(next_ + (made - 1 - taken_)) % depth_].fault) {   // that worker had left its loop
            forks_ = base::forks::so_far();
            worker_ = base::posix_thread([] {});
            return;
        }
        begin(made);
    }
    SINTER_COLD void finish() {
        if (forks_ == base::forks::so_far()) return worker_.join();
        worker_.forget();
    }
    SINTER_COLD void stop() {
        if (!worker_.joinable()) return;
        stopping_ = true;
        taken_.fetch_add(1);   // whatever it waits for has changed
        taken_.notify_one();
        finish();
    }
    void work(unsigned made, unsigned at) {
        for (;; at = after(at)) {
            base::await_change(taken_, made - depth_, false);   // the ring is full
            if (stopping_) return;
            const base::forks::delay whole;
            slot& s = ring_[at];   // nobody else's until it is counted
            try {
                s.more = up_->fill(s.buffer);
            } catch (...) {
                s.fault = std::current_exception();
            }
            const bool last = s.fault != nullptr;   // asked before the slot is given away
            made_ = ++made;
            made_.notify_one();
            if (last) return;
        }
    }
    unsigned after(unsigned place) const { return place + 1 < depth_ ? place + 1 : 0; }

    std::unique_ptr<batch_stage> up_;
    const unsigned depth_;
    std::unique_ptr<slot[]> ring_;
    unsigned next_ = 0;   ///< to be taken
    alignas(64) std::atomic<unsigned> made_{0};
    alignas(64) std::atomic<unsigned> taken_{0};
    alignas(64) std::atomic<bool> stopping_{false};
    base::posix_thread worker_;
    unsigned forks_ = 0;   ///< that it was begun under
};

SINTER_SELDOM_BODY prefetch_step prefetch(int depth) {
    if (depth < 1 || depth > 1024)
        throw option_error("impossible depth", "prefetch", to_text({depth}), "1 to 1024 batches");
    return {depth};
}

SINTER_SELDOM_BODY prefetch_step prefetch() { return {0}; }

SINTER_COLD SINTER_APART pipeline operator|(pipeline up, prefetch_step s) {
    const position at = up.position();
    const int depth = s.depth ? s.depth : usual_depth(up.columns(), up.batch_size());
    pipeline p(new prefetcher(up.release(), depth));
    p.seek(at);
    return p;
}
#endif

} // namespace sinter::data
