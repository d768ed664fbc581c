// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/runtime/row_source.hpp>
#include <memory>
#if SINTER_BODIES
#include <sinter/base/mutex.hpp>
#include <sinter/base/os/fork.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <vector>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// Batches of a row_source, made by `threads` threads up to `depth` batches ahead of the caller (0: as many as take a
/// megabyte, 2 to 16). Each thread takes some elements and writes their rows where they belong, so that batches are the
/// same for any number of threads. So are errors: one comes out of the call that would have given the batch it arose
/// in, and of several in one batch the same one as without threads. The next call begins again there. In a child of
/// fork() other threads go on from the batch that the caller had last; fork() waits until what is being computed is
/// whole.
SINTER_SELDOM std::unique_ptr<batch_stage> team_of_rows(std::unique_ptr<row_source> rows, int batch,
                                                        bool drop_remainder, int threads, int depth);

#if SINTER_BODIES
class row_team final : public batch_stage {
public:
    row_team(std::unique_ptr<row_source> rows, int batch, bool drop_remainder, int threads, int depth)
        : rows_(std::move(rows)), batch_(batch), depth_(depth), drop_(drop_remainder),
          threads_(static_cast<std::size_t>(threads)) {}
    ~row_team() override { stop(); }
    const column_list& columns() const override { return rows_->columns(); }
    int batch_size() const override { return batch_; }
    std::int64_t size() const override {
        const std::int64_t n = rows_->size();
        return drop_ && n > 0 ? n - n % batch_ : n;
    }
    bool fill(batch_buffer& into) override {
        if (ring_ && forks_ != base::forks::so_far()) stop();
        if (!ring_) start();
        ring& r = *ring_;
        place& p = r.places[static_cast<std::size_t>(asked_ % depth_)];
        {
            base::mutex_lock hold(r.guard);
            r.made.wait(r.guard, [&] { return p.is_whole(); });
        }
        if (p.fault) {
            const std::exception_ptr fault = p.fault;
            stop();
            std::rethrow_exception(fault);
        }
        const base::forks::delay whole;
        std::swap(into, p.buffer);
        into.set_size(p.rows);
        into.after = at_ = p.after;
        const bool more = p.more;
        ++asked_;
        base::mutex_lock hold(r.guard);
        p.clear();
        ++r.delivered;
        if (r.taken - r.delivered <= depth_ / 2) r.wanted.notify_all();   // waking takes as long as some small batches
        return more;
    }
    void seek(position to) override {
        stop();
        at_ = to;
    }
    SINTER_COLD void describe(description& d) const override {   // how many threads there are changes nothing
        rows_->describe(d);
        d.stage("batch")("size", batch_)("drop_remainder", drop_);
    }

private:
    /// A batch that is being made. Its rows are written without the mutex.
    struct place {
        batch_buffer buffer;
        int rows = 0, filling = 0;   ///< elements taken; threads that fill some of them
        bool is_taken = false;       ///< no further element belongs to it
        bool more = false;           ///< of one that is taken; false: instead of a batch the end of a pass
        position after;
        std::exception_ptr fault;    ///< instead of a batch; nothing is made behind it
        int fault_row = 0;           ///< from which on it arose; before all rows: where elements were taken
        bool is_whole() const { return is_taken && filling == 0; }
        bool is_end() const { return is_taken && !more; }
        void clear() { rows = 0, is_taken = more = false; }
    };
    struct ring {
        explicit ring(position from) : next(from) {}
        base::mutex guard;
        base::condition wanted, made;
        std::vector<place> places;
        /// Batches whose elements are taken, and given to the caller.
        std::int64_t taken SINTER_GUARDED_BY(guard) = 0, delivered SINTER_GUARDED_BY(guard) = 0;
        position next SINTER_GUARDED_BY(guard);    ///< where the batch that is being taken begins
        bool is_there SINTER_GUARDED_BY(guard) = false;   ///< so that the source stands at what is taken next
        int share SINTER_GUARDED_BY(guard) = 1;    ///< so many elements are taken at once
        bool stopping SINTER_GUARDED_BY(guard) = false, failed SINTER_GUARDED_BY(guard) = false;
        bool has_work() const SINTER_REQUIRES(guard) {
            return !failed && taken - delivered < static_cast<std::int64_t>(places.size());
        }
    };
    static constexpr double worth_a_share = 100e-6;   ///< seconds; taking one is nothing beside it

    SINTER_COLD void start() {
        const base::forks::delay whole;
        auto own = std::make_unique<ring>(at_);
        asked_ = 0;
        own->places.resize(static_cast<std::size_t>(depth_));
        for (place& p : own->places) p.buffer = batch_buffer(columns(), batch_);
        rows_->prepare(static_cast<int>(threads_.size()), depth_, batch_);
        forks_ = base::forks::so_far();
        ring_ = std::move(own);
        try {
            for (std::size_t t = 0; t < threads_.size(); ++t)
                threads_[t] = base::posix_thread([this, t] { work(static_cast<int>(t)); });
        } catch (...) {
            stop();
            throw;
        }
    }
    /// In a forked child the threads are not there, and one of them may have held the mutex: the ring is left alone.
    SINTER_COLD void stop() {
        if (!ring_) return;
        const bool forked = forks_ != base::forks::so_far();
        if (!forked) {
            base::mutex_lock hold(ring_->guard);
            ring_->stopping = true;
            ring_->wanted.notify_all();
        }
        for (base::posix_thread& t : threads_) {
            if (!t.joinable()) continue;
            if (forked) t.forget();
            else t.join();
        }
        if (forked) static_cast<void>(ring_.release());
        ring_.reset();
    }
    void work(int worker) {
        ring& r = *ring_;
        for (;;) {
            {
                base::mutex_lock hold(r.guard);
                r.wanted.wait(r.guard, [&]() SINTER_REQUIRES(r.guard) { return r.stopping || r.has_work(); });
                if (r.stopping) return;
            }
            const base::forks::delay whole;   // fork() waits until what is taken is filled
            base::mutex_lock hold(r.guard);
            if (r.stopping) return;
            if (r.has_work()) take_and_fill(r, worker);
        }
    }
    /// Under the mutex, but for filling.
    void take_and_fill(ring& r, int worker) SINTER_REQUIRES(r.guard) {
        const auto number = static_cast<int>(r.taken % depth_);
        place& p = r.places[static_cast<std::size_t>(number)];
        const int first = p.rows, got = take(r, p, number);
        if (got > 0 && !p.fault && !p.is_end()) {   // else there will be no batch that needs these rows
            ++p.filling;
            const std::exception_ptr fault = fill(r, p, number, worker, first, got);
            --p.filling;
            if (fault && !p.is_end() && (!p.fault || first < p.fault_row)) p.fault = fault, p.fault_row = first;
            if (p.fault && p.is_taken) r.failed = true;
        }
        if (p.is_whole()) r.made.notify_all();
    }
    /// Some elements for the batch that is being taken; how many there were. Behind a row that could not be computed
    /// the others are taken all the same: their error would come first without threads, and a batch that is dropped has
    /// none.
    int take(ring& r, place& p, int number) SINTER_REQUIRES(r.guard) {
        const int n = std::min(r.share, batch_ - p.rows);
        int got = 0;
        try {
            if (!r.is_there) rows_->start(r.next.epoch, r.next.index);
            r.is_there = true;
            got = rows_->take(number, p.rows, n);
        } catch (...) {
            p.fault = std::current_exception();
            p.fault_row = -1;
            p.is_taken = p.more = r.failed = true;
            return 0;
        }
        p.rows += got;
        if (got == n && p.rows < batch_) return got;
        if (got < n && drop_) p.rows = 0;
        p.more = p.rows > 0;
        if (!p.more) p.fault = nullptr;
        p.after = p.more ? position{r.next.epoch, r.next.index + p.rows} : position{r.next.epoch + 1, 0};
        r.is_there = p.more;   // the next pass is begun for the next batch: should that fail, this one was whole
        r.next = p.after;
        p.is_taken = true;
        r.failed = p.fault != nullptr;
        ++r.taken;
        return got;
    }
    /// Computes rows, and what was thrown.
    std::exception_ptr fill(ring& r, place& p, int number, int worker, int first, int n) SINTER_REQUIRES(r.guard) {
        std::exception_ptr fault;
        const auto begin = std::chrono::steady_clock::now();
        {
            base::mutex_release let_go(r.guard);
            try {
                rows_->fill(worker, number, first, n, p.buffer);
            } catch (...) {
                fault = std::current_exception();
            }
        }
        const double each = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / n;
        r.share = std::clamp(static_cast<int>(worth_a_share / (each + 1e-9)), 1, batch_);
        return fault;
    }

    std::unique_ptr<row_source> rows_;
    const int batch_, depth_;
    const bool drop_;
    std::vector<base::posix_thread> threads_;
    std::unique_ptr<ring> ring_;
    unsigned forks_ = 0;       ///< that the threads were begun under
    std::int64_t asked_ = 0;   ///< batches that the caller has had of the ring
    position at_;
};

SINTER_SELDOM_BODY std::unique_ptr<batch_stage> team_of_rows(std::unique_ptr<row_source> rows, int batch,
                                                             bool drop_remainder, int threads, int depth) {
    if (depth == 0) {
        const std::size_t bytes = 1 + rows->columns().bytes() * static_cast<std::size_t>(batch);
        depth = static_cast<int>(std::clamp<std::size_t>((1 << 20) / bytes, 2, 16));
    }
    return std::make_unique<row_team>(std::move(rows), batch, drop_remainder, threads, depth);
}
#endif

} // namespace sinter::data
