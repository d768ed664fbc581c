// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/batch_share.hpp>
#include <sinter/base/cold.hpp>
#include <sinter/base/span.hpp>
#include <sinter/graph/address.hpp>
#include <sinter/strategy/broadcast_by_sums.hpp>
#include <cstdint>
#include <string>
#include <vector>

/// What training asks of a strategy's session that does not depend on the model's programs: ordinary classes, whose
/// calls are documented here, each with a default. What does depend on the programs is in strategy.hpp.
namespace sinter::inline SINTER_ORDINARY {

/// Who a process is among those that train one model together.
struct membership {
    int index = 0, count = 1;
    constexpr bool chief() const { return index == 0; }   ///< whose files and messages count
    constexpr bool operator==(const membership&) const = default;
};

class table_calls;   // strategy/table_calls.hpp

/// What a process is in its job, as train_and_evaluate asks for it.
struct place_in_job {
    bool evaluates = false;       ///< it is the evaluator, which trains nothing
    bool has_evaluator = false;   ///< the job has one
    int index = 0;                ///< among those of its role
    std::string folder{};         ///< of the checkpoints, if the job was given one

    template <class Cluster>
    static place_in_job of(const Cluster& c) {
        using role = decltype(c.self().role);
        return {c.self().role == role::evaluator, c.evaluator() != nullptr, c.self().index, c.options.folder};
    }
};

/// Calls of a session whose members may be others from one step to the next (elastic()): session_base::joining().
/// "Operation": anything that all members do together.
class joining_calls {
public:
    /// Whether this process has not joined the job yet. Then it is not the chief, and not alone.
    virtual bool waits() const = 0;
    /// Whether it has joined, and what it calls does nothing until take_part(): what hooks write at the beginning of a
    /// run or an epoch the others wrote at theirs, and what it was given has it.
    virtual bool is_passive() const = 0;
    /// The epoch of the members who did the last operation together: the same number on all of them.
    virtual std::int64_t made_in() const = 0;
    /// The epoch in which this process became the chief.
    virtual std::int64_t chief_since() const = 0;
    /// Waits until the members admit this process; what they give it (admit()). It is passive until take_part().
    virtual std::vector<std::byte> join() = 0;
    /// A process that has joined does what the others do from here on.
    virtual void take_part() = 0;
    /// All members call it, behind a step whose result has `join`: who waits joins, and is given `run`.
    virtual void admit(std::vector<std::byte> run) = 0;
    /// In a message: this process goes on where the others are.
    virtual void say_joined(std::int64_t step, int epoch) const = 0;

protected:
    ~joining_calls() = default;
};

/// The base of every session. What a session does not override is right for a process that trains alone, on one
/// replica, and counts its own steps. All calls are made from one thread, and those about members by every member in
/// the same order. Whatever is thrown comes out of the trainer's call.
class session_base {
public:
    /// No process will ever train with this one: what several do together is not compiled.
    static constexpr bool alone = false;
    /// The session overrides joining(): what a process that joins is given is compiled.
    static constexpr bool members_change = false;

    session_base() = default;
    session_base(session_base&&) = default;
    session_base& operator=(session_base&&) = default;
    virtual ~session_base() = default;

    // ---- values: parameters, slots, states and gradients, from and to wherever they live
    /// `n` floats from this address on, as they lie in the device's memory.
    virtual void read(facts::address from, float* to, std::int64_t n) const = 0;
    virtual void write(facts::address to, const float* from, std::int64_t n) = 0;
    /// All slots, the optimizer's memory, are zeros.
    virtual void clear_slots() = 0;
    /// Follows a run of writes (initial values, what a file held): every member then has the chief's.
    virtual void publish() {}
    /// Comes before evaluation and prediction, which then see the newest weights.
    virtual void refresh() {}
    /// Evaluation, prediction and read() have the averages that the optimizer keeps in this slot, or, called once
    /// more, the weights again. False: nothing was done, and the trainer exchanges them by read() and write().
    virtual bool exchange_with_slot([[maybe_unused]] int slot) { return false; }
    /// Host threads at work.
    virtual int threads() const = 0;

    // ---- members
    /// This process's place among them.
    virtual membership member() const { return {}; }
    /// The numbers' sums over all members: metrics, and small agreements.
    virtual void reduce(span<double>) {}
    /// The chief's bytes, on every member. By reduce() unless overridden.
    SINTER_COLD virtual void broadcast(span<std::byte> x) {
        if (member().count > 1)
            session_parts::broadcast_by_sums(x, member().chief(), [this](span<double> numbers) { reduce(numbers); });
    }
    /// This member cannot go on, and why: the others' next call throws cluster_error.
    virtual void fail([[maybe_unused]] const char* why) {}
    /// Whether this member trains at its own pace: it makes its own calls, and nobody waits for them. What it measures
    /// is its own, and files are the chief's affair alone.
    virtual bool independent() const { return false; }
    /// Whether members read batches of their own, and not all the same.
    virtual bool per_worker() const { return false; }
    /// Under per_worker(): whether a member whose pass has ended goes on with empty batches until
    /// step_result::examples, of all members, is 0. If not, all passes need equally many batches where steps wait for
    /// each other.
    virtual bool takes_empty_batches() const { return per_worker(); }
    /// Whether members that make the same calls may be some updates apart, so that each knows its own losses alone.
    virtual bool may_lag() const { return false; }
    /// Under may_lag(): the mean over all members' examples of what is `mean` over this one's, which weigh `weight`.
    virtual double mean_of_all(double mean, [[maybe_unused]] double weight) { return mean; }
    /// Whether this member makes calls that others have made without it: what it would save is of later values.
    virtual bool makes_up() const { return false; }
    /// Null where members stay the same.
    virtual joining_calls* joining() { return nullptr; }
    const joining_calls* joining() const { return const_cast<session_base*>(this)->joining(); }

    // ---- data
    /// Which examples of the batches that all members share this one computes: a step may be given these alone
    /// (batch_view::whole). It is asked again when members have changed. All of them under per_worker(), and where
    /// batches are kept that may have to be computed again without a member that has died.
    virtual batch_share own_share() const { return {}; }
    /// The same of one batch of `size`.
    example_range own_examples(int size) const { return own_share().range(0, size); }

    // ---- the run
    /// Before the first step, of a trainer that has made `steps`, to go on to `max_steps` (0: without a limit).
    /// `keeps_runs`: the chief saves whole runs, and what it has loaded of them, or nothing, is where training begins.
    /// Answers the steps that have been made, which are others where others count them.
    virtual std::int64_t begin_training(std::int64_t steps, [[maybe_unused]] std::int64_t max_steps,
                                        [[maybe_unused]] bool keeps_runs) {
        return steps;
    }
    /// Whether training has begun, or there is nothing to begin.
    virtual bool begun() const { return true; }
    /// Behind this member's last step; the chief waits for the others. `early`: none is to go on. As above.
    virtual std::int64_t end_training(std::int64_t steps, [[maybe_unused]] bool early) { return steps; }
    /// This member makes no steps for a while, and is not waited for.
    virtual void rest() {}
    /// How many steps the trainer's values have had from now on.
    virtual void set_steps(std::int64_t) {}
    /// The number of the next step, by which one of several losses is taken; `done`: by the trainer.
    virtual std::int64_t next_step(std::int64_t done) { return done; }
    /// Steps of each of several losses, as all members have made them; unchanged where the trainer's count.
    virtual void read_phase_steps(span<std::int64_t>) const {}
    virtual void set_phase_steps(span<const std::int64_t>) {}
    /// Whether some member has asked all to stop what they are doing.
    virtual bool asked_to_stop() const { return false; }
    virtual void ask_all_to_stop([[maybe_unused]] const char* why) {}
    /// A checkpoint of the run has been written to this file, or read from it.
    virtual void checkpoint_saved(const std::string&) {}
    /// Whether a file that is saved in training is of one moment: nobody goes on meanwhile.
    virtual bool saves_one_moment() const { return true; }

    // ---- the job
    virtual const place_in_job& in_job() const {
        static const place_in_job none;
        return none;
    }
    /// Whether this process keeps values for those that train, and trains nothing (strategy.hpp, Updates elsewhere).
    virtual bool serves() const { return false; }
    /// Whether a process that does was asked to end.
    virtual bool server_ends() const { return false; }
    /// Null where no tables are elsewhere (strategy_traits::remote_tables).
    virtual table_calls* tables() { return nullptr; }
    const table_calls* tables() const { return const_cast<session_base*>(this)->tables(); }
};

} // namespace sinter
