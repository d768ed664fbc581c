// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/patience.hpp>
#include <sinter/base/os/posix_thread.hpp>
#include <sinter/collective/element.hpp>
#include <sinter/collective/engine.hpp>
#include <sinter/collective/group_messages.hpp>
#include <sinter/collective/validated_gather.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Operations in the order in which they were started, each carried out by an engine on whichever
/// thread has time: on a thread of the communicator's own where the caller goes on computing, on
/// the waiting thread otherwise. A waiting thread also takes over what that thread has not begun;
/// so small models are driven without waking anybody. Starting and waiting allocate nothing (but
/// the thread, once).
class queued_communicator : public communicator {
public:
    /// `between`: null where two members cannot send each other messages.
    queued_communicator(std::shared_ptr<membership> m, std::unique_ptr<engine> e,
                        std::shared_ptr<messages> between = nullptr, std::uint32_t group = 0)
        : members_(std::move(m)), engine_(std::move(e)), between_(members_, std::move(between), group),
          may_spin_(members_->may_spin()) {}
    ~queued_communicator() override {
        {
            std::unique_lock lock(mutex_);
            if (done_ < posted_ && !error_)
                members_->fail(own_error(next(), "this member left before the operation was done"));
            stop_ = true;
            work_.notify_all();
        }
        if (thread_.joinable()) thread_.join();
    }

    int rank() const override { return members_->rank(); }
    int size() const override { return members_->size(); }

    ticket start(const operation& o, void* data, std::int64_t n, bool more) override {
        refuse_nonsense(o, data, n);
        std::unique_lock lock(mutex_);
        if (error_) std::rethrow_exception(error_);
        while (posted_ - done_ == slots) wait_for(lock, done_ + 1);
        queue_[posted_ % slots] = {o, data, n};
        ++posted_;
        if (more && engine_->on_any_thread()) {
            if (!thread_.joinable()) thread_ = posix_thread([this] { serve(); });
            wanted_ = posted_;
            if (asleep_) work_.notify_one();
        }
        return posted_;
    }
    bool reads_device_memory() const override { return engine_->reads_device_memory(); }
    void wait(ticket t) override {
        if (finished_.load(std::memory_order_acquire) >= t) return;
        const double began = monotonic_seconds();
        std::unique_lock lock(mutex_);
        wait_for(lock, std::min(t, posted_));
        waited_ += monotonic_seconds() - began;
    }
    void check() override { members_->check(); }
    void fail(std::string_view cause) noexcept override {
        try {
            std::unique_lock lock(mutex_);
            members_->fail(own_error(done_ < posted_ ? next() : operation{}, cause));
        } catch (...) {   // no memory for the text: the others will see this member go
        }
    }
    void progress(std::int64_t step, const char* what) override { members_->progress(step, what); }
    void report(std::int64_t step, double loss) override {
        set_steps_done(step);
        const std::unique_lock lock(mutex_);
        members_->report(step, loss, waited_);
    }
    void ask_all_to_stop(const char* reason) override { members_->ask_all_to_stop(reason); }
    bool asked_to_stop() const override { return members_->asked_to_stop(); }

    message start_send(int to, std::int64_t tag, span<const std::byte> x) override {
        members_->progress(steps_done(), "sending a message");
        return between_.send(to, tag, x);
    }
    message start_recv(int from, std::int64_t tag, span<std::byte> x) override {
        members_->progress(steps_done(), "awaiting a message");
        return between_.receive(from, tag, x);
    }
    void wait_message(message m, double within) override { between_.wait(m, within); }
    std::unique_ptr<communicator> split(int color, int key) override {
        const group_choice mine{color, key, members_->last_group() + 1};
        const group_of_members g = group_of(all_gather_value(*this, mine, "split"), rank());
        members_->last_group() = g.number;
        const bool in = !g.ranks.empty();
        const auto these = in ? std::make_shared<subgroup>(members_, g.ranks, g.rank) : nullptr;
        auto e = engine_->split(*this, g, these);
        return in ? std::make_unique<queued_communicator>(these, std::move(e), between_.all(), g.number) : nullptr;
    }

private:
    struct entry {
        operation what;
        void* data = nullptr;
        std::int64_t n = 0;
    };
    static constexpr std::int64_t slots = 1024;
    static constexpr double spin_seconds = 60e-6;

    std::shared_ptr<membership> members_;
    std::unique_ptr<engine> engine_;
    group_messages between_;
    const bool may_spin_;
    std::mutex mutex_;
    std::condition_variable work_, progress_;
    entry queue_[slots];
    std::int64_t posted_ = 0, done_ = 0;
    std::int64_t wanted_ = 0;       // how many the communicator's own thread is to see done
    std::int64_t awaited_ = none;   // the least that a sleeping thread waits for
    bool driving_ = false, asleep_ = false, stop_ = false;
    std::exception_ptr error_;
    double waited_ = 0;             // seconds, by those who wait
    std::atomic<std::int64_t> finished_{0};   // done_, for those who spin
    posix_thread thread_;

    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    /// An error that this member is the cause of.
    SINTER_COLD cluster_error own_error(const operation& o, std::string_view cause) const {
        const int r = rank();
        return {members_->job_rank(r), members_->role(r), members_->address(r), name_of(o), o.step, std::string(cause)};
    }
    const operation& next() const { return queue_[done_ % slots].what; }
    SINTER_COLD static void refuse_nonsense(const operation& o, const void* data, std::int64_t n) {
        if (n < 0) throw option_error("the number of elements is negative", name_of(o), std::to_string(n), "0 or more");
        if (n > 0 && !data) throw option_error("there is no memory", name_of(o), "a null pointer", "elements");
        if (o.what == kind::all_gather_rows && (n < 8 || n % 8 != 0))
            throw option_error("a slot has no such length", name_of(o), std::to_string(n) + " bytes",
                               "a multiple of 8, at least 8");
    }

    /// Carries out the next operation; the lock is open meanwhile.
    void drive(std::unique_lock<std::mutex>& lock) {
        driving_ = true;
        const entry e = queue_[done_ % slots];
        const std::int64_t number = done_;
        lock.unlock();
        std::exception_ptr error;
        try {
            engine_->perform(e.what, number, e.data, e.n);
        } catch (const cluster_error& fault) {
            members_->fail(fault);
            error = first_error();
        } catch (const std::exception& fault) {
            error = failed(e.what, fault.what());
        } catch (...) {
            error = failed(e.what, "it threw what is no error");
        }
        lock.lock();
        driving_ = false;
        if (error) error_ = error;
        else finished_.store(++done_, std::memory_order_release);
        if (error || done_ >= awaited_) {
            awaited_ = none;   // those who wait for more say so again
            progress_.notify_all();
        }
    }
    SINTER_COLD std::exception_ptr failed(const operation& o, const char* cause) noexcept {
        try {
            members_->fail(own_error(o, cause));
        } catch (...) {   // no memory for the text: the others will see this member go
            return std::current_exception();
        }
        return first_error();
    }
    SINTER_COLD std::exception_ptr first_error() noexcept {
        try {
            members_->check();
        } catch (...) {
            return std::current_exception();
        }
        return std::make_exception_ptr(device_error("an operation failed without an error", "collective"));
    }

    void wait_for(std::unique_lock<std::mutex>& lock, ticket t) {
        while (done_ < t) {
            if (!driving_) {
                if (error_) std::rethrow_exception(error_);
                drive(lock);
                continue;
            }
            if (may_spin_) {   // the other thread may be nearly done
                lock.unlock();
                for (const double until = monotonic_seconds() + spin_seconds; monotonic_seconds() < until;) {
                    if (finished_.load(std::memory_order_acquire) >= t) return lock.lock();
                    relax();
                }
                lock.lock();
                if (done_ >= t || !driving_) continue;
            }
            awaited_ = std::min(awaited_, t);
            progress_.wait(lock);
        }
        if (asleep_ && done_ < wanted_) work_.notify_one();
        if (!driving_ && awaited_ != none) progress_.notify_all();   // another thread waits for more
    }

    /// The communicator's own thread.
    void serve() {
        std::unique_lock lock(mutex_);
        while (true) {
            asleep_ = true;
            // While it is awake it goes on with what others wait for.
            while (!stop_ && (error_ || driving_ || (done_ >= wanted_ && awaited_ == none))) work_.wait(lock);
            asleep_ = false;
            if (stop_) return;
            drive(lock);
        }
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
