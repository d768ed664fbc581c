// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/updated_parameters.hpp>
#include <algorithm>
#include <utility>

/// What a synchronous session asks of a training program P, worked out when it is compiled.
namespace sinter::inline SINTER_TARGET::strategy_parts::of_program {

/// Steps from one update to the next.
template <class P>
inline constexpr int every = P::v.n_buckets ? P::v.buckets[0].every : 1;

/// The launch with whose end the loss is known.
template <class P>
inline constexpr int loss_launch = [] {
    int last = P::v.n_launches;
    base::view<const compiler::loop_launches> loops;   // by its members: nvcc makes one number of a list in braces
    loops.p = P::v.loops;
    loops.n = P::v.n_loops;
    for (int i = 0; i < P::v.n_launches; ++i)
        if (P::v.launches[i].loss) last = detail::ends_with(P::v.launches, loops, i);
    return last;
}();
/// Marks of a step: of each bucket, by its number, the launch behind which it is final; behind
/// those numbers, the launch that makes the loss.
template <class P>
inline constexpr auto marks = [] {
    struct {
        launch_mark all[std::size_t{P::v.n_buckets + 1}];
    } sorted;
    const launch_mark loss{loss_launch<P>, P::v.n_buckets};
    int n = 0;
    bool done = false;
    for (int k = 0; k < P::v.n_buckets; ++k) {
        const launch_mark bucket{P::v.buckets[k].final_after, k};
        if (!done && loss.launch <= bucket.launch) sorted.all[n++] = loss, done = true;
        sorted.all[n++] = bucket;
    }
    if (!done) sorted.all[n] = loss;
    return sorted;
}();
/// The weights that bucket k is for, if they are one stretch of as many floats; else none.
template <class P>
constexpr compiler::address parameters_of(int k) {
    const compiler::gradient_bucket& b = P::v.buckets[k];
    compiler::address first;
    if (b.parameter >= 0) return first;
    int stretches = 0;
    std::int64_t n = 0;
    for_each_updated<P>(compiler::gradient_range{b.at, b.floats}, [&](compiler::address a, std::int64_t floats) {
        if (++stretches == 1) first = a;
        n = floats;
    });
    return stretches == 1 && n == b.floats ? first : compiler::address{};
}
/// Whether members update bucket k in parts.
template <class P>
constexpr bool in_parts(int k) { return parameters_of<P>(k).where() == compiler::space::parameter; }

/// The most of something that any of a model's training programs has.
template <class Programs>
struct largest {
    template <int I>
    using training = typename Programs::template training<I>;
    template <int... I>
    static constexpr int most_buckets(std::integer_sequence<int, I...>) {
        return std::max({training<I>::v.n_buckets...});
    }
    template <int... I>
    static constexpr std::int64_t most_gradients(std::integer_sequence<int, I...>) {
        return std::max({std::max(training<I>::v.floats(space::gradient), training<I>::v.z.trained)...});
    }
    /// Is a step made without sums over all shards on the way to the gradients?
    template <int... I>
    static constexpr bool in_one_stretch(std::integer_sequence<int, I...>) {
        return ((training<I>::v.n_loss_weights == 0 && training<I>::v.n_sync_points == 0) && ...);
    }
    template <int... I>
    static constexpr std::int64_t most_sums(std::integer_sequence<int, I...>) {
        std::int64_t most = 0;
        const auto look = [&](const auto& p) {
            for (int k = 0; k < p.n_sync_points; ++k) most = std::max(most, p.sync_points[k].floats);
        };
        (look(training<I>::v), ...);
        return most;
    }
};

} // namespace sinter::strategy_parts::of_program
