// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <sinter/train/agreement.hpp>
#include <sinter/train/metrics/named.hpp>

/// What members of a job must share of the data that they read, and of what they measure.
namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Which batches: where all members read the same data. Each may have its own where the strategy says so.
SINTER_COLD inline void describe_data(description& d, const session_base& s, const data::pipeline& data,
                                      const char* name) {
    d.of(name);
    if (s.per_worker()) return void(d("input", "batch_input::per_worker"));
    data.describe(d);
}
/// Where they are.
SINTER_COLD inline void describe_place(description& d, const data::position& at) {
    d("passes before", at.epoch)("examples read of this one", at.index);
    if (!at.cursors.empty()) d("places of its stages (their hash)", base::fnv1a(at.cursors));
}
SINTER_COLD inline void describe_metrics(description& d, const std::vector<metrics::named>& all) {
    std::string names;
    for (const metrics::named& m : all) names += to_text({names.empty() ? "" : ", ", m.name()});
    d("metrics", names.empty() ? "none" : names);
    for (const metrics::named& m : all) m.describe(d);
}
/// What to do where data differ.
inline constexpr const char* same_or_per_worker =
    "the same on every member; where each has data of its own, a strategy with batch_input::per_worker";

} // namespace sinter::training_parts
