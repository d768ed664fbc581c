// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The number of a server's states, where arrays are read and written by number.
inline constexpr int states_array = -1;

/// What a push is, beside its floats.
struct push_info {
    double loss = 0;              ///< the sum of this worker's losses, as `weight` weighs them
    double weight = 1;            ///< what `loss` and the gradient are a mean over, or share of it
    double examples = 0;
    double square_sum = 0;        ///< of all gradients on all servers, where the optimizer needs it
    double states_count = 0;      ///< how many shards' states are added up in those pushed; 0: none are pushed
    float rate = 1;               ///< a factor on the learning rate; of a clock: that of the lowest rank
    bool finite = true;           ///< false: this push (or its clock) updates nothing
    bool states_are_changes = false;   ///< async: what to add to the states; else what to put in their place
    bool adds = false;            ///< the gradients of a clock are added, whatever gradient_join says
    int phase = 0;                ///< where losses alternate: whose parameters it has gradients of
};

/// What the last answer of server 0 had.
struct answer_info {
    std::int64_t global_step = 0;   ///< updates so far
    std::int64_t clock = 0;         ///< of this worker's next push
    std::int64_t applied = 0;       ///< clocks that are applied: 0..applied-1
    double loss = 0, weight = 0, examples = 0;   ///< sums over the pushes of the newest update
    std::int64_t staleness = 0;     ///< async: updates between this worker's pull and its push
    enum class fate : std::uint8_t { none, applied, staged, repeated, late, not_finite, outdated } push = fate::none;
};

} // namespace sinter::parameter_servers
