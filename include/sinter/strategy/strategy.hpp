// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/replica.hpp>
#include <concepts>

/// What a strategy is: where a model trains, on what, and with whom. A user's own is one more class
/// (test/strategy/own.cpp).
namespace sinter::inline SINTER_TARGET {

/// What programs must know of a strategy. It enters their request: strategies of equal traits have
/// equal programs.
struct strategy_traits {
    /// stored, or reduced in buckets, where somebody reads or changes gradients between the halves
    /// of a step.
    gradient_policy gradients = gradient_policy::fused;
    int bucket_bytes = 1 << 18;   ///< of gradient_policy::reduced
    bool updates_here = true;     ///< false: the programs have neither updates nor slots; somebody else has them
    int shards = 1;   ///< that a batch is cut into, each a run of a program for so many times fewer examples

    /// Replicas whose gradients an update adds up itself: program_options::gradient_sources.
    int gradient_sources = 1;

    /// Tables that are only looked up are elsewhere (program_options::remote_tables): the session
    /// has `start_table`, `prepared` and `each_wrong_number` (below).
    bool remote_tables = false;

    constexpr bool operator==(const strategy_traits&) const = default;
};

/// Who a process is among those that train one model together.
struct membership {
    int index = 0, count = 1;
    constexpr bool chief() const { return index == 0; }   ///< whose files and messages count
    constexpr bool operator==(const membership&) const = default;
};

/// A strategy: a value that a trainer or an estimator is given and copies. It describes; it owns no
/// memory, threads or sockets. single (strategy/single.hpp) is the one that costs nothing.
///
/// Device
///     `device`, a compute_device: programs are compiled for it.
/// Traits
///     `traits`, a strategy_traits: a constant.
/// Session
///     `session<Programs>`, made from (strategy, threads): what the trainer owns; see strategy_session. `Programs` is a
///     model_programs. `threads` are the host's that the model may work with, 0: as the strategy or its device has it.
template <class S>
concept strategy = std::copyable<S> && requires {
    typename S::device;
    { S::traits } -> std::convertible_to<strategy_traits>;
} && compute_device<typename S::device>;

/// The session of a strategy for a model's programs P: owns the replicas, and the threads and
/// connections, if any. A trainer makes it, and calls it, from one thread.
///
/// Step
///     `step<I>(batch, values, observe)`: this member's part of one step of training program I. The loss is that of the
///     whole batch, where members share one. On a replica it is replica::step, or gradients(), whatever the
///     strategy does with them, and update().
/// Local
///     `local()`: the replica that evaluation and prediction run on, and that outputs are read from.
/// Read, write
///     `read(address, to, floats)` and `write(address, from, floats)`: parameters, slots and states, from and
///     to wherever they live. `clear_slots()`: all slots are zeros.
/// Publish
///     `publish()` follows a run of writes (initial values, what a file held): every member then has the chief's.
/// Refresh
///     `refresh()` comes before evaluation and prediction: local() then has the newest weights.
/// Members
///     `member()`: this process's place; static and constexpr in a session that is always alone, where nothing is
///     compiled of what several do together. `reduce(sums)`: sums over all members, for metrics. `threads()`:
///     host threads at work.
/// Own batches
///     `per_worker()`, if there is one: whether each member trains and evaluates on batches of its own, and not all on
///     the same. A member whose pass has ended while others' go on is then given empty batches, until step()'s
///     step_result::examples, of all members, is 0; so step() must take them. Where it cannot the session has
///     `static constexpr bool steps_need_examples = true`, as all have that are made of single_session: no
///     member is given empty batches, and all passes need equally many batches, if steps wait for each other.
/// Errors
///     Whatever a session throws comes out of the trainer's call. What can fail comes before the first
///     change: a step that threw has counted for nobody, or every member is notified that it did not.
/// Remote tables
///     Under strategy_traits::remote_tables: `start_table(variable, key)`: the table has its initializer's values by
///     this key of random numbers, on whoever keeps it. `prepared<P>(batch)`: the batch for program P's run on local(),
///     with its lookups' ports, and the rows that it names in place. `each_wrong_number(f)`: whether others keep tables
///     and the optimizer's memory now; they look for infinities and NaN themselves, and f(variable, slot, number, key,
///     value) is called of the first in each variable and slot (-1: its values). `number` is its place in the plain
///     form, or in the row of `key` of a hashed table; -1: it is to be looked for in what read() gives.
/// Moves
///     A session moves, with its trainer.
template <class T, class P>
concept strategy_session = std::movable<T> &&
    requires(T& t, const T& c, const batch_view& b, const step_values& v, compiler::address a, float* x,
             const float* y, std::int64_t n,
             span<double> sums) {
        { t.template step<0>(b, v, runtime::unobserved{}) } -> std::same_as<step_result>;
        { t.local() } -> std::convertible_to<replica<P>&>;
        { c.local() } -> std::convertible_to<const replica<P>&>;
        c.read(a, x, n);
        t.write(a, y, n);
        t.clear_slots();
        t.publish();
        t.refresh();
        t.reduce(sums);
        { c.member() } -> std::same_as<membership>;
        { c.threads() } -> std::same_as<int>;
    };

namespace detail {

/// What the strategy asks of the programs, besides what the user does.
constexpr program_options options_under(program_options o, strategy_traits t, int max_batch) {
    o.remote_tables = t.remote_tables ? max_batch : 0;
    o.remote_parts = t.remote_tables ? t.shards : 1;
    if (t.gradients == gradient_policy::fused) return o;   // then the user's choice holds
    o.gradients = t.gradients;
    o.bucket_bytes = t.bucket_bytes;
    o.gradient_sources = t.gradient_sources;
    return o;
}

} // namespace detail

} // namespace sinter
