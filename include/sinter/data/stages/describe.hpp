// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/cursor_bytes.hpp>
#include <sinter/data/stages/stage_text.hpp>
#include <string>

/// What a pipeline is made of, to look at.
namespace sinter::inline SINTER_ORDINARY::data {

namespace stage_parts {
template <element_stage S>
SINTER_COLD pipeline_facts facts_of(const S& s) {
    std::string place;
    if constexpr (!indexed_stage<S>)
        if constexpr (base::has_value_bytes<cursor_of<S>>) write_cursor<S>({}, place);
    return {s.size(), indexed_stage<S>, place.size()};
}
} // namespace stage_parts

/// The stages of a pipeline as text, one a line with its settings; how many elements a pass has; and whether they are
/// found by their number, so that going on anywhere costs nothing, or come one after the other:
///
///     1 elements of a vector: elements 60000, ...
///     2 shuffle: seed 0
///     60000 elements in a pass, found by number
template <element_stage Stages>
SINTER_COLD std::string describe(const Stages& stages) {
    description d;
    stages.describe(d);
    return stage_parts::text_of_stages(d, stage_parts::facts_of(stages));
}
/// With the batches' size, and who makes them: threads, and batches ahead once there were any.
template <class Stages>
SINTER_COLD std::string describe(const batches<Stages>& b) {
    description d;
    b.stages().describe(d);
    d.stage("batch")("size", b.batch_size())("drop_remainder", b.drops_remainder());
    std::string text = stage_parts::text_of_stages(d, stage_parts::facts_of(b.stages()));
    const team_statistics s = b.statistics();
    if (s.depth > 0)
        text += to_text({"made by ", s.threads, s.threads == 1 ? " thread, up to " : " threads, up to ", s.depth,
                        " batches ahead of the caller: at most ", s.depth + 1, " in memory\n"});
    return text;
}

} // namespace sinter::data
