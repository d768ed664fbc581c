// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>
#include <sinter/strategy/synchronous/options.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The processes that train a model with this one, as its session sees them: a communicator, or none while this process
/// is alone. `Distributed` false: there never is one, and nothing of sending is compiled.
template <bool Distributed>
class member_group {
public:
    explicit member_group(synchronous_setup& s)
        : members_(std::move(s.members)), input_(s.input), in_tree_order_(s.in_tree_order),
          in_job_(std::move(s.in_job)) {}

    explicit operator bool() const { return static_cast<bool>(members_); }
    collective::communicator* operator->() const { return members_.get(); }
    collective::communicator& operator*() const { return *members_; }
    /// Null where this process is alone.
    collective::communicator* get() const { return members_.get(); }
    /// Other members from now on; null: none, for the time being.
    void connect(std::unique_ptr<collective::communicator> m) { members_ = std::move(m); }

    membership place() const {
        if constexpr (Distributed)
            if (members_) return {members_->rank(), members_->size()};
        return {};
    }
    bool chief() const { return place().chief(); }
    const place_in_job& in_job() const { return in_job_; }   ///< an evaluator is not among the members
    bool per_worker() const { return Distributed && input_ == batch_input::per_worker; }
    void reduce(span<double> x) const {
        if (members_) members_->all_reduce(x);
    }
    void barrier() const {
        if (members_) members_->barrier();
    }
    /// The chief's bytes, on every member.
    void broadcast(span<std::byte> x) const {
        if (members_) members_->broadcast(x);
    }
    /// Notifies the others that this member cannot go on, and why.
    void fail(const char* why) const {
        if (members_) members_->fail(why);
    }
    bool asked_to_stop() const { return members_ && members_->asked_to_stop(); }
    void ask_all_to_stop(const char* why) const {
        if (members_) members_->ask_all_to_stop(why);
    }
    void set_steps(std::int64_t n) const {   ///< for errors
        if (members_) members_->set_steps_done(n);
    }

    // ---- sums over members, in a step
    /// How arrays of numbers are added up: in an order of the communicator's, or, on request, in that of tree_sum.
    collective::kind summing() const {
        return in_tree_order_ ? collective::kind::all_reduce_tree : collective::kind::all_reduce;
    }
    /// The same where each member needs a part of the sum alone.
    collective::kind summing_parts() const {
        return in_tree_order_ ? collective::kind::reduce_scatter_tree : collective::kind::reduce_scatter;
    }
    static collective::operation operation(collective::kind what, std::int64_t step, collective::element type,
                                           int bucket = -1) {
        return {.what = what, .type = type, .step = step, .bucket = bucket};
    }
    /// Begins to add up x and returns; `more`: other operations follow at once.
    collective::ticket start_sum(double* x, int n, std::int64_t step, bool more) const {
        return members_->start(operation(summing(), step, collective::element::f64), x, n, more);
    }
    void sum_now(double* x, int n, std::int64_t step) const {
        if (members_) members_->wait(start_sum(x, n, step, false));
    }
    void sum_now(float* x, std::int64_t n, std::int64_t step) const {
        if (members_ && n)
            members_->wait(
                members_->start(operation(summing(), step, collective::element::f32), x, n, false));
    }

private:
    std::conditional_t<Distributed, std::unique_ptr<collective::communicator>, no_members> members_;
    batch_input input_;
    bool in_tree_order_;
    place_in_job in_job_;
};

} // namespace sinter::strategy_parts
