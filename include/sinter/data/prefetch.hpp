// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace sinter::data {

/// Prepares batches on a thread of its own while the caller works on the one it has. Batches change hands by swapping
/// buffers with a ring of `depth`: nothing is copied, and nothing allocated once the ring is there.
class prefetcher final : public batch_stage {
public:
    prefetcher(std::unique_ptr<batch_stage> up, int depth)
        : up_(std::move(up)), depth_(static_cast<std::size_t>(depth)), ring_(new slot[depth_]) {}
    ~prefetcher() override { stop(); }
    const column_list& columns() const override { return up_->columns(); }
    int batch_size() const override { return up_->batch_size(); }
    std::int64_t size() const override { return up_->size(); }

    bool fill(batch_buffer& into) override {
        if (!worker_.joinable()) start();
        std::unique_lock lock(mutex_);
        not_empty_.wait(lock, [&] { return filled_ > 0 || fault_; });
        if (filled_ == 0) {   // all that was made before the fault has been delivered
            lock.unlock();
            worker_.join();   // it has left its loop; the next call starts another, from where the fault arose
            std::rethrow_exception(std::exchange(fault_, nullptr));
        }
        slot& s = ring_[first_];
        std::swap(into, s.buffer);
        const bool more = s.more;
        first_ = (first_ + 1) % depth_;
        --filled_;
        lock.unlock();
        not_full_.notify_one();
        return more;
    }
    void seek(position to) override {
        stop();
        fault_ = nullptr;
        up_->seek(to);
    }

private:
    struct slot {
        batch_buffer buffer;
        bool more = false;
    };
    SINTER_COLD void start() {
        for (std::size_t i = 0; i < depth_; ++i)
            if (slot& s = ring_[i]; !s.buffer) s.buffer = batch_buffer(up_->columns(), up_->batch_size());
        first_ = filled_ = 0;
        stopping_ = false;
        worker_ = std::thread([this] { work(); });
    }
    SINTER_COLD void stop() {
        if (!worker_.joinable()) return;
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        not_full_.notify_one();
        worker_.join();
    }
    void work() {
        for (;;) {
            std::size_t at = 0;
            {
                std::unique_lock lock(mutex_);
                not_full_.wait(lock, [&] { return stopping_ || filled_ < depth_; });
                if (stopping_) return;
                at = (first_ + filled_) % depth_;
            }
            // This slot is nobody else's until it is counted as filled.
            std::exception_ptr fault;
            try {
                ring_[at].more = up_->fill(ring_[at].buffer);
            } catch (...) {
                fault = std::current_exception();
            }
            {
                const std::lock_guard lock(mutex_);
                if (fault) fault_ = fault;
                else ++filled_;
            }
            not_empty_.notify_one();
            if (fault) return;
        }
    }

    std::unique_ptr<batch_stage> up_;
    std::size_t depth_;
    std::unique_ptr<slot[]> ring_;
    std::size_t first_ = 0, filled_ = 0;
    bool stopping_ = false;
    std::exception_ptr fault_;
    std::mutex mutex_;
    std::condition_variable not_empty_, not_full_;
    std::thread worker_;
};

struct prefetch_step { int depth; };

/// Up to `depth` batches ahead of the caller. option_error unless 1 <= depth <= 1024.
SINTER_COLD inline prefetch_step prefetch(int depth = 2) {
    if (depth < 1 || depth > 1024)
        throw option_error("impossible depth", "prefetch", joined({depth}), "1 to 1024 batches");
    return {depth};
}
SINTER_COLD inline pipeline operator|(pipeline up, prefetch_step s) {
    const position at = up.position();
    pipeline p(new prefetcher(up.release(), s.depth));
    p.seek(at);
    return p;
}

} // namespace sinter::data
