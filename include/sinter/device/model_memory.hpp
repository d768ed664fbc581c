// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/device/arena.hpp>
#include <sinter/compiler/plan/memory.hpp>
#include <limits>

namespace sinter::inline SINTER_TARGET::runtime {

/// The memory of one model on one device: what its programs share, by the arenas that addresses
/// speak of.
template <class Arena>
struct basic_model_memory {
    Arena parameters, gradients, states, slots, activations, scratch;

    float* base(space s) const {
        switch (s) {
            case space::activation: return activations.data();
            case space::parameter: return parameters.data();
            case space::gradient: return gradients.data();
            case space::state: return states.data();
            case space::slot: return slots.data();
            default: return nullptr;
        }
    }
    float* at(address a) const {
        float* b = base(a.where());
        return b ? b + a.offset() : nullptr;
    }
};

using model_memory = basic_model_memory<arena>;   ///< in the host's memory

/// A stretch of a program's launches that begins and ends outside loops, as at the cuts of
/// program_segments.
struct launch_range {
    int first = 0, end = std::numeric_limits<int>::max();   ///< to the last one
};

/// A launch whose end others wait for, and the number by which they call it.
struct launch_mark {
    int launch = 0, number = 0;
};
/// In the order of launches.
struct launch_marks {
    const launch_mark* marks = nullptr;
    int n = 0;
};

/// Which shard of a global batch a step's batch is. By default it is the whole of it.
///
/// With the global batch and the loss weights of all shards handed in, the shards' losses and
/// gradients add up to the global batch's. Random numbers are keyed by (seed, step, shard): each
/// shard counts its elements from 0, whatever the other shards hold.
struct batch_shard {
    std::uint64_t index = 0;               ///< 0 draws what an undivided batch draws
    int global_batch = 0;                  ///< examples of all shards together; 0: this batch is all
    const float* loss_weights =
        nullptr;   ///< sums over all shards of what program_value::loss_weights shows, as many of them; null:
                   ///< weighted means are divided by what this batch's values weigh
};

/// Gradients whose updates are run alone, as an update of a part of the weights. A sweep is cut at
/// both ends, which lie on whole lines of 16 floats. What is not cut runs whole: a table's lazy
/// update where the table's first float, or that of its list's rows, is in the range; sums over a
/// tensor where any of the tensor is.
struct gradient_range {
    address from;              ///< in gradient_bucket::at's arena
    std::int64_t floats = -1;  ///< -1: all gradients there are

    constexpr bool all() const { return floats < 0; }
    constexpr std::int64_t end() const { return from.offset() + floats; }
    constexpr bool has(address a) const {
        return a.where() == from.where() && a.offset() >= from.offset() && a.offset() < end();
    }
};

/// What a program is run with.
struct step_arguments {
    const float* const* ports =
        nullptr;   ///< inputs, then targets; null: those of the run before, which are still there
    const float* scalars = nullptr;        ///< what the optimizer's scalars() wrote
    std::uint64_t seed = 0;
    std::int64_t step = 0;
    int batch = 0;
    bool needs_finite_loss = false;   ///< end before anything is changed where the loss is not that (on the processor)
    launch_range launches = {};            ///< that are run
    batch_shard shard = {};
    /// Lists of rows to update by, one for each of program_value::n_lists, by their numbers; null:
    /// those that the program made. They may have more rows than the program's (on the processor).
    const row_list* lists = nullptr;
    gradient_range updated = {};   ///< of updates, those that are run (on the processor)

    constexpr std::uint64_t random_key() const { return shard.index ? shard_key(seed, shard.index) : seed; }
    constexpr int global_batch() const { return shard.global_batch ? shard.global_batch : batch; }
};

/// Stands for an observer, who is told before and after each launch, where nobody watches.
struct unobserved {
    void operator()(int /*launch*/, bool /*before*/) const {}
};

/// While what this returns lives, memory is taken on device `d`, where a thread chooses among
/// devices of its kind.
template <class Device>
auto enter(const Device& d) {
    if constexpr (requires { d.enter(); }) return d.enter();
    else return unobserved{};
}

} // namespace sinter::runtime
