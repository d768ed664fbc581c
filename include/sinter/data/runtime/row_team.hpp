// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/runtime/row_source.hpp>
#include <memory>
#if SINTER_BODIES
#include <sinter/base/mutex.hpp>
#include <sinter/base/os/fork.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/base/os/processors.hpp>
#include <sinter/base/os/thread_seconds.hpp>
#include <sinter/data/runtime/batch_counts.hpp>
#include <sinter/data/runtime/batch_parts.hpp>
#include <sinter/data/runtime/team_size.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <vector>
#endif

namespace sinter::inline SINTER_ORDINARY::data {

/// What a team of threads does. The caller of its batches reads it between two of them.
struct team_statistics {
    int threads = 0;          ///< that work at present
    int depth = 0;            ///< batches that may be there ahead of the caller
    std::int64_t rows = 0;    ///< that the caller has had
    double waited = 0;        ///< seconds that the caller has waited for them
    double row_seconds = 0;   ///< that a thread takes for a row, the lower quartile lately; where threads are chosen
};

struct team_options {
    int threads = 0;      ///< 0: as many as are of use (runtime/team_size.hpp), chosen anew while batches are taken
    int depth = 0;        ///< batches ahead of the caller; 0: as many as take a megabyte, 2 to 16
    int cpu_budget = 0;   ///< where threads are chosen: cores that they may keep busy; 0: all that the process may use
    std::shared_ptr<team_statistics> statistics{};   ///< where they are written; null: nowhere
};

/// Batches of a row_source, made by threads ahead of the caller. Each thread takes some elements and writes their rows
/// where they belong, so that batches are the same for any number of threads. So are errors: one comes out of the call
/// that would have given the batch it arose in, and of several in one batch the same one as without threads. The next
/// call begins again there. In a child of fork() other threads go on from the batch that the caller had last; fork()
/// waits until what is being computed is whole.
SINTER_SELDOM std::unique_ptr<batch_stage> team_of_rows(std::unique_ptr<row_source> rows, int batch,
                                                        bool drop_remainder, team_options o);

#if SINTER_BODIES
class row_team final : public batch_stage {
public:
    row_team(std::unique_ptr<row_source> rows, int batch, bool drop_remainder, team_options o)
        : rows_(std::move(rows)), batch_(batch), depth_(o.depth), drop_(drop_remainder), chosen_(o.threads == 0),
          cpu_budget_(o.cpu_budget ? o.cpu_budget : base::usable_cores()), statistics_(std::move(o.statistics)),
          threads_(static_cast<std::size_t>(chosen_ ? most_chosen : o.threads)) {
        if (!statistics_) statistics_ = std::make_shared<team_statistics>();
        statistics_->depth = depth_;
    }
    ~row_team() override { stop(); }
    const column_list& columns() const override { return rows_->columns(); }
    int batch_size() const override { return batch_; }
    std::int64_t size() const override {
        return delivered_examples(rows_->size(), batch_, drop_);
    }
    bool fill(batch_buffer& into) override {
        if (ring_ && forks_ != base::forks::so_far()) stop();
        if (!ring_) start();
        ring& r = *ring_;
        place& p = r.places[static_cast<std::size_t>(asked_ % depth_)];
        wait_for(r, p);
        if (p.fault) {
            const std::exception_ptr fault = p.fault;
            stop();
            std::rethrow_exception(fault);
        }
        const base::forks::delay whole;
        std::swap(into, p.buffer);
        into.set_part(p.own, share_.is_all() ? 0 : p.rows);
        into.after = at_ = p.after;
        const bool more = p.more;
        statistics_->rows += p.rows;
        ++asked_;
        {
            base::mutex_lock hold(r.guard);
            p.clear();
            ++r.delivered;
            if (chosen_) choose(r);
            if (r.taken - r.delivered <= depth_ / 2) r.wanted.notify_all();   // waking takes as long as small batches
        }
        if (chosen_) add_threads();
        return more;
    }
    void seek(position to) override {
        stop();
        at_ = std::move(to);
    }
    SINTER_COLD void need_place(const position& at) const override { rows_->need_cursors(at.cursors); }
    SINTER_COLD void share(batch_share s) override {   // batches ahead were made for another one
        stop();
        share_ = s;
    }
    SINTER_COLD void refill(batch_buffer& into, example_range examples) override {
        widen_part(*rows_, static_cast<int>(threads_.size()), tickets_of(asked_ - 1), into, examples);
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
        example_range own;           ///< those that are computed, of a batch that is taken
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
        int working SINTER_GUARDED_BY(guard) = 0;  ///< the first so many threads; the others wait
        bool stopping SINTER_GUARDED_BY(guard) = false, failed SINTER_GUARDED_BY(guard) = false;
        bool has_work() const SINTER_REQUIRES(guard) {
            return !failed && taken - delivered < static_cast<std::int64_t>(places.size());
        }
    };
    static constexpr double worth_a_share = 100e-6;   ///< seconds; taking one is nothing beside it
    static constexpr double between_choices = 0.03;   ///< seconds, at least
    static constexpr int most_chosen = 64;            ///< threads

    using clock = std::chrono::steady_clock;
    static double seconds_since(clock::time_point t) {
        return std::chrono::duration<double>(clock::now() - t).count();
    }

    void wait_for(ring& r, place& p) {
        base::mutex_lock hold(r.guard);
        if (p.is_whole()) return;
        const auto began = clock::now();
        r.made.wait(r.guard, [&] { return p.is_whole(); });
        statistics_->waited += seconds_since(began);
    }
    /// How many threads work from now on.
    void choose(ring& r) SINTER_REQUIRES(r.guard) {
        const double passed = seconds_since(chosen_at_);
        if (passed < between_choices) return;
        r.working = size_.next(statistics_->rows - rows_then_, passed, statistics_->waited - waited_then_);
        begin_to_measure();
        statistics_->threads = r.working;
        statistics_->row_seconds = size_.row_seconds();
    }
    void begin_to_measure() {
        chosen_at_ = clock::now();
        rows_then_ = statistics_->rows;
        waited_then_ = statistics_->waited;
    }
    /// Those that are to work and are not there yet. Where the system grants no further one it stays as it is.
    void add_threads() {
        for (; there_ < statistics_->threads; ++there_) {
            const int t = there_;
            try {
                threads_[static_cast<std::size_t>(t)] = base::posix_thread([this, t] { work(t); });
            } catch (const error&) {
                if (there_ == 0 || !chosen_) throw;
                return;
            }
        }
    }

    SINTER_COLD void start() {
        const base::forks::delay whole;
        auto own = std::make_unique<ring>(at_);
        asked_ = 0;
        own->places.resize(static_cast<std::size_t>(depth_));
        for (place& p : own->places) p.buffer = batch_buffer(columns(), batch_);
        // One more of each: the batch that the caller has may be asked for other examples, by the caller's thread.
        rows_->prepare(static_cast<int>(threads_.size()) + 1, depth_ + 1, batch_);
        forks_ = base::forks::so_far();
        statistics_->threads = chosen_ ? 1 : static_cast<int>(threads_.size());
        {
            base::mutex_lock hold(own->guard);
            own->working = statistics_->threads;
        }
        size_ = team_size(cpu_budget_, most_chosen);
        begin_to_measure();
        there_ = 0;
        ring_ = std::move(own);
        try {
            add_threads();
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
                r.wanted.wait(r.guard, [&]() SINTER_REQUIRES(r.guard) {
                    return r.stopping || (worker < r.working && r.has_work());
                });
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
        const int number = tickets_of(r.taken);
        place& p = r.places[static_cast<std::size_t>(r.taken % depth_)];
        example_range of{p.rows, 0};
        of.size = take(r, p, number);
        if (p.is_taken && !share_.is_all()) of = p.own;
        if (of.size > 0 && !p.fault && !p.is_end()) {   // else there will be no batch that needs these rows
            const int first = of.first;
            ++p.filling;
            const std::exception_ptr fault = fill(r, p, number, worker, of);
            --p.filling;
            if (fault && !p.is_end() && (!p.fault || first < p.fault_row)) p.fault = fault, p.fault_row = first;
            if (p.fault && p.is_taken) r.failed = true;
        }
        if (p.is_whole()) r.made.notify_all();
    }
    /// Whose tickets are those of that batch.
    int tickets_of(std::int64_t batch) const { return static_cast<int>(batch % (depth_ + 1)); }
    /// Some elements for the batch that is being taken, or all of them where a part alone is to be computed, which
    /// depends on how many there are; how many there were. Behind a row that could not be computed
    /// the others are taken all the same: their error would come first without threads, and a batch that is dropped has
    /// none.
    int take(ring& r, place& p, int number) SINTER_REQUIRES(r.guard) {
        const int n = share_.is_all() ? std::min(r.share, batch_ - p.rows) : batch_;
        int got = 0;
        try {
            if (!r.is_there) rows_->start(r.next);
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
        p.own = share_.range(r.next.index / batch_, p.rows);
        if (p.more) {
            r.next.index += p.rows;
            rows_->save_cursors(r.next.cursors);
        } else {
            r.next = {r.next.epoch + 1, 0};
        }
        r.is_there = p.more;   // the next pass is begun for the next batch: should that fail, this one was whole
        p.after = r.next;
        p.is_taken = true;
        r.failed = p.fault != nullptr;
        ++r.taken;
        return got;
    }
    /// Computes rows, and what was thrown.
    std::exception_ptr fill(ring& r, place& p, int number, int worker, example_range of) SINTER_REQUIRES(r.guard) {
        std::exception_ptr fault;
        const auto began = clock::now();
        const double busy_before = chosen_ ? base::thread_seconds() : 0;
        double seconds = 0, busy = 0;
        {
            base::mutex_release let_go(r.guard);
            try {
                rows_->fill(worker, number, of.first, of.size, p.buffer, share_.is_all() ? of.first : 0);
            } catch (...) {
                fault = std::current_exception();
            }
            seconds = seconds_since(began);
            if (chosen_) busy = base::thread_seconds() - busy_before;
        }
        r.share = std::clamp(static_cast<int>(worth_a_share / (seconds / of.size + 1e-9)), 1, batch_);
        if (chosen_) size_.add(of.size, seconds, busy);
        return fault;
    }

    std::unique_ptr<row_source> rows_;
    const int batch_, depth_;
    const bool drop_, chosen_;   ///< chosen_: how many threads work is chosen
    const int cpu_budget_;
    std::shared_ptr<team_statistics> statistics_;   ///< the caller's
    team_size size_{1, 1};                          ///< under the ring's mutex
    clock::time_point chosen_at_{};                 ///< and what the caller had had, and waited for, then
    std::int64_t rows_then_ = 0;
    double waited_then_ = 0;
    int there_ = 0;   ///< threads that were begun
    std::vector<base::posix_thread> threads_;
    std::unique_ptr<ring> ring_;
    unsigned forks_ = 0;       ///< that the threads were begun under
    std::int64_t asked_ = 0;   ///< batches that the caller has had of the ring
    position at_;
    batch_share share_{};   ///< changes while no thread works
};

SINTER_SELDOM_BODY std::unique_ptr<batch_stage> team_of_rows(std::unique_ptr<row_source> rows, int batch,
                                                             bool drop_remainder, team_options o) {
    if (o.depth == 0) o.depth = usual_depth(rows->columns(), batch);
    return std::make_unique<row_team>(std::move(rows), batch, drop_remainder, std::move(o));
}
#endif

} // namespace sinter::data
