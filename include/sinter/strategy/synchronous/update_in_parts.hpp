// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>
#include <sinter/device/cpu/threads.hpp>
#include <sinter/strategy/replica.hpp>
#include <sinter/strategy/synchronous/kept_parts.hpp>
#include <sinter/strategy/synchronous/program_facts.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The updates of training program I, as thread `thread` of all: the parts of each bucket that this
/// member keeps, the whole of a bucket that is not cut.
template <int I, class Programs>
void update_kept_parts(replica<Programs>& weights, team& threads, int thread, const kept_parts& parts,
                       step_arguments now) {
    using P = typename Programs::template training<I>;
    constexpr check_updates_in_parts<P::v.reach> sound{};
    (void)sound;
    auto& run = weights.template runner<I>();
    const int first_sweep = P::v.segments.first_sweep;
    if (P::v.segments.first_update < first_sweep) {   // the norm of all gradients, which everybody has
        now.launches.end = first_sweep;
        run.run_share(threads, thread, now);
    }
    now.launches = {first_sweep};
    for (int k = 0; k < P::v.n_buckets; ++k) {
        const gradient_bucket& b = P::v.buckets[k];
        const bool cut = of_program::in_parts<P>(k);
        for (int i = 0; i < (cut ? parts.count() : 1); ++i) {
            const collective::part_range own = cut ? parts.part(b.floats, i) : collective::part_range{0, b.floats};
            now.updated = {{b.at.where(), b.at.offset() + own.first}, own.end - own.first};
            if (now.updated.floats > 0) run.run_share(threads, thread, now);
        }
        if (replica<Programs>::accumulates() && cut && thread == 0) {   // the next round begins
            float* const gathered = weights.host(b.at);
            for (int p = 0; p < parts.members; ++p) {
                const collective::part_range other = collective::part_of(b.floats, p, parts.members);
                if (!parts.keeps(p)) std::fill(gathered + other.first, gathered + other.end, -0.f);
            }
        }
    }
}

/// Behind it: everybody gets the weights that the others have updated. `sent`: a ticket for each
/// bucket. `weights(address)`: where the host has them.
template <class P, class Place>
void gather_parts(Place weights, collective::communicator& members, std::int64_t step,
                  std::vector<collective::ticket>& sent) {
    int last = -1;
    for (int k = 0; k < P::v.n_buckets; ++k)
        if (of_program::in_parts<P>(k)) last = k;
    for (int k = 0; k <= last; ++k)
        if (of_program::in_parts<P>(k))
            sent[static_cast<std::size_t>(k)] =
                members.start({.what = collective::kind::all_gather, .step = step, .bucket = k},
                              weights(of_program::parameters_of<P>(k)), P::v.buckets[k].floats, k < last);
    for (int k = 0; k <= last; ++k)
        if (of_program::in_parts<P>(k)) members.wait(sent[static_cast<std::size_t>(k)]);
}

} // namespace sinter::strategy_parts
