// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/communicator.hpp>
#include <sinter/device/cpu/threads.hpp>
#include <sinter/strategy/replica.hpp>
#include <sinter/strategy/synchronous/program_facts.hpp>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// The updates of training program I, as thread `thread` of all: each member's part of each bucket,
/// whole where a bucket is not cut; then everybody gathers the new weights. `sent`: a ticket for each
/// bucket.
template <int I, class Programs>
void update_in_parts(replica<Programs>& weights, team& threads, int thread, collective::communicator& members,
                     step_arguments now, std::vector<collective::ticket>& sent) {
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
        collective::part_range own{0, b.floats};
        if (of_program::in_parts<P>(k)) own = members.part(b.floats, members.rank());
        now.updated = {{b.at.where(), b.at.offset() + own.first}, own.end - own.first};
        if (now.updated.floats > 0) run.run_share(threads, thread, now);
        if (replica<Programs>::gathers() && of_program::in_parts<P>(k) && thread == 0) {   // the next round begins
            float* const gathered = weights.at(b.at);
            std::fill_n(gathered, own.first, -0.f);
            std::fill(gathered + own.end, gathered + b.floats, -0.f);
        }
    }
    threads.barrier(thread);
    if (thread != 0) return;
    int last = -1;
    for (int k = 0; k < P::v.n_buckets; ++k)
        if (of_program::in_parts<P>(k)) last = k;
    for (int k = 0; k <= last; ++k)
        if (of_program::in_parts<P>(k))
            sent[static_cast<std::size_t>(k)] =
                members.start({.what = collective::kind::all_gather, .step = now.step, .bucket = k},
                              weights.at(of_program::parameters_of<P>(k)), P::v.buckets[k].floats, k < last);
    for (int k = 0; k <= last; ++k)
        if (of_program::in_parts<P>(k)) members.wait(sent[static_cast<std::size_t>(k)]);
}

} // namespace sinter::detail
