// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/compiler/emit/spec.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// Where the launches of a step may be cut: [0, first_change), [first_change, first_update) and
/// [first_update, all of them).
struct program_segments {
    /// The launches before this one change nothing that outlives the step but states and `early`
    /// parameters (variable_info), and the loss is known when they are done. All launches, where
    /// nothing is changed.
    int first_change = 0;
    /// From this launch on parameters are updated that no gradient's kernel has updated. Before it
    /// all gradients are final that are stored, states are new, and what a round of steps
    /// accumulates has been added up. All launches, where there is none.
    int first_update = 0;
    /// The launches from first_update to this one make a norm of all gradients.
    int first_sweep = 0;
};

/// A sum over all shards of the global batch, in the midst of a step (ops/internal/shard_sum.hpp).
/// After launch `after` and before the next, what all shards have at `at` is to be added up, and
/// each gets the sum. Needs batch_shard::global_batch. A member without examples adds zeros.
struct sync_point {
    int after = -1;
    address at;
    std::int64_t floats = 0;
};

/// `updates`, `sweeps`: where the launches of updates begin, and those behind a norm of all
/// gradients, as the emitter knows.
constexpr program_segments find_segments(const launch* launches, int n, int updates, int sweeps) {
    int loss = -1, change = n;
    for (int i = n - 1; i >= 0; --i) {
        if (launches[i].loss && loss < 0) loss = i;
        if (launches[i].updates && (loss < 0 || i > loss)) change = i;
    }
    while (change > loss + 1 && change < n && launches[change - 1].is_producer) --change;   // two that run as one
    if (loss < 0 || change == n) return {n, updates, sweeps};
    return {change < updates ? change : updates, updates, sweeps};   // sums for an update (norms) come before it
}

} // namespace sinter::compiler
