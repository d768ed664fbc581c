// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/data/pipeline.hpp>
#include <sinter/strategy/session.hpp>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Where the data of every member are: where each reads its own, a saved run has all their places.
struct data_places {
    std::vector<std::int64_t> passes, indices;
    SINTER_COLD void gather(session_base& s, data::position at) {
        const membership m = s.member();
        const auto n = static_cast<std::size_t>(m.count), me = static_cast<std::size_t>(m.index);
        std::vector<double> all(2 * n);
        all[me] = static_cast<double>(at.epoch);
        all[n + me] = static_cast<double>(at.index);
        s.reduce(span<double>(all.data(), all.size()));
        passes.resize(n), indices.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            passes[i] = static_cast<std::int64_t>(all[i]);
            indices[i] = static_cast<std::int64_t>(all[n + i]);
        }
    }
    /// This member's; where the run had another number of members, the beginning of the pass.
    data::position of(membership m, data::position first) const {
        const auto me = static_cast<std::size_t>(m.index);
        if (passes.size() != static_cast<std::size_t>(m.count)) return {first.epoch, 0};
        return {passes[me], indices[me]};
    }
    void state(auto& s) { s("passes", passes)("indices", indices); }
};

} // namespace sinter::training_parts
