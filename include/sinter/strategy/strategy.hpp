// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/replica.hpp>
#include <sinter/strategy/session.hpp>
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
    bool updates_here = true;     ///< false: the programs have neither updates nor slots; somebody else has them:
                                  ///< the session is a `session<Programs, Optimizer>` then, and has `serve`, `follow`
    int shards = 1;   ///< that a batch is cut into, each a run of a program for so many times fewer examples

    /// Replicas whose gradients an update adds up itself: program_options::gradient_sources.
    int gradient_sources = 1;

    /// Tables that are only looked up are elsewhere (program_options::remote_tables): session_base::tables().
    bool remote_tables = false;

    constexpr bool operator==(const strategy_traits&) const = default;
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

namespace strategy_parts {
/// A function that each_part() below may be given: nvcc knows no lambda within a concept.
template <class P>
struct part_visitor {
    void operator()(const replica<P>&, const batch_view&) const {}
};
} // namespace strategy_parts

/// The session of a strategy for a model's programs P: owns the replicas, and the threads and connections, if any. A
/// trainer makes it, and calls it, from one thread. It derives from session_base (strategy/session.hpp) and has what
/// depends on the programs besides. One that is made of a replica has all of it from replica_session
/// (strategy/single.hpp), and changes what it does otherwise.
///
/// Step
///     `step<I>(batch, values, observe)`: this member's part of one step of training program I. The loss is that of the
///     whole batch, where members share one. On a replica it is replica::step, or gradients(), whatever the
///     strategy does with them, and update().
/// Evaluation and prediction
///     `evaluate(batch, values)`, the batch's mean loss, and `predict(batch, values)`.
/// Outputs
///     `output(i)`: output i of the last run of any program, [batch, extents...], good until the next; empty if that
///     failed. `output_shape(i)`: of it. `loss_weight()`: what the last run's loss is a mean over. `forget_outputs()`:
///     what output() showed is of other weights now. `each_part(batch, f)`: f(replica, part of the batch) for each
///     replica that had examples in the last step of `batch`.
/// Errors
///     Whatever a session throws comes out of the trainer's call. What can fail comes before the first
///     change: a step that threw has counted for nobody, or every member is notified that it did not.
/// Updates elsewhere
///     Where strategy_traits::updates_here is false, `serve(optimizer, asked_to_end)` is what a process does that
///     serves(), in place of training, until the job is over or, where `asked_to_end()` says so, all have stopped; a
///     second call returns at once. `follow(optimizer)`: hooks may have changed its learning rates.
/// Remote tables
///     Under strategy_traits::remote_tables `tables()` is not null (strategy/table_calls.hpp). The strategy's header
///     includes train/checkpoint/tables_of_servers.hpp, which has such tables' files: other programs do without.
/// Moves
///     A session moves, with its trainer.
template <class T, class P>
concept strategy_session = std::movable<T> && std::derived_from<T, session_base> &&
    requires(T& t, const T& c, const batch_view& b, const step_values& v) {
        { t.template step<0>(b, v, runtime::unobserved{}) } -> std::same_as<step_result>;
        { t.evaluate(b, v) } -> std::same_as<float>;
        t.predict(b, v);
        { c.output(0) } -> std::same_as<span<const float>>;
        { c.output_shape(0) } -> std::convertible_to<shape>;
        { c.loss_weight() } -> std::same_as<double>;
        t.forget_outputs();
        t.each_part(b, strategy_parts::part_visitor<P>{});
    };

namespace strategy_parts {

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

} // namespace strategy_parts

} // namespace sinter
