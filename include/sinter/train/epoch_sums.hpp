// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/session.hpp>
#include <sinter/train/hooks/hook_state.hpp>
#include <sinter/train/metrics/accuracy.hpp>
#include <sinter/train/metrics/mean.hpp>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// What the loop itself has seen of an epoch.
struct epoch_sums {
    static constexpr int most_phases = 8;
    int phases = 1;
    metrics::mean losses[most_phases];
    metrics::accuracy accuracy;   ///< of all members, as far as merged
    metrics::accuracy own;        ///< what this member has counted since then

    explicit epoch_sums(int n) : phases(n) {}
    /// Every member's accuracy becomes that of all. Losses are those of whole batches already.
    SINTER_SELDOM SINTER_COLD void merge(session_base& s);
    double accuracy_so_far() const {
        metrics::accuracy all = accuracy;
        all.merge(own);
        return all.value();
    }
    SINTER_SELDOM SINTER_COLD void state(hook_state& s);
};

} // namespace sinter::training_parts

#if SINTER_BODIES
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_SELDOM_BODY void epoch_sums::merge(session_base& s) {
    double counts[] = {static_cast<double>(own.right()), static_cast<double>(own.count())};
    s.reduce(span<double>(counts, 2));
    accuracy.add_counts(static_cast<std::int64_t>(counts[0]), static_cast<std::int64_t>(counts[1]));
    own = {};
}
SINTER_SELDOM_BODY void epoch_sums::state(hook_state& s) {
    static constexpr const char* names[most_phases] = {"loss",   "loss_1", "loss_2", "loss_3",
                                                       "loss_4", "loss_5", "loss_6", "loss_7"};
    for (int i = 0; i < phases; ++i) s(names[i], losses[i]);
    s("accuracy", accuracy);
}

} // namespace sinter::training_parts
#endif
