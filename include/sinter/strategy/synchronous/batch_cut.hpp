// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/replica_set.hpp>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// How a batch is cut: into `of` shards, of which this process has those from number `first` on. Shards beyond the last
/// one are empty.
struct batch_cut {
    int size = 0, first = 0, of = 1;

    /// The examples of this process's i-th shard.
    constexpr example_range shard(int i) const {
        return batch_share::part(size, first + i, of);
    }
    /// Those of all of its shards.
    constexpr example_range own(int shards) const { return batch_share{first, shards, of}.range(0, size); }
};

/// A view of a batch of `size` that lacks some of the examples that are `needed` gets these in place of what it had,
/// where it can (batch_view::compute); else option_error.
SINTER_COLD inline void need_examples(const batch_view& b, example_range needed, int size) {
    const auto lacks = [&] { return b.first < 0 || !example_range{b.first, b.size}.has(needed); };
    if (lacks() && b.compute) b.compute(b.by, needed);
    if (!lacks()) return;
    const example_range has{b.first, b.size};
    const auto text = [](example_range r) { return to_text({"examples ", r.first, " to ", r.first + r.size - 1}); };
    throw option_error("a part of a batch lacks what this member computes", to_text({"step, a batch of ", size}),
                       text(has), to_text({text(needed), ": session().own_examples(", size, ") says which"}));
}

/// Begins a step of training program I in all replicas. `ports`: of a batch whose first example is number `begin` of
/// the whole. `numbers(i, size)`: what shard i, of so many examples, draws random numbers by. `place(ports)`: changes
/// the ports of a shard that has examples.
template <int I, class Programs, class Numbers, class Place>
void begin_shards(replica_set<Programs>& replicas, const batch_cut& cut, const float* const* ports, int begin,
                  Numbers numbers, Place place) {
    using P = typename replica_set<Programs>::template training<I>;
    for (int i = 0; i < replicas.size(); ++i) {
        const example_range range = cut.shard(i);
        replicas.shard(i) = {{range.first - begin, range.size}, numbers(i, range.size)};
        const float* own[std::size_t{P::v.n_inputs + P::v.n_targets + 1}] = {};
        if (range.size) {
            move_ports<P>(ports, range.first - begin, own);
            place(own);
        }
        replicas[i].template begin_step<I>(own, range.size);
    }
}

} // namespace sinter::strategy_parts
