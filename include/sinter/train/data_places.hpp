// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>
#include <sinter/data/pipeline.hpp>
#include <sinter/strategy/session.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// Where the data of every member are: where each reads its own, a saved run has all their places.
struct data_places {
    std::vector<std::int64_t> passes, indices;
    std::vector<std::int64_t> cursor_sizes;   ///< bytes of each member's data::position::cursors
    std::string cursors;                      ///< all of them, one behind the other

    SINTER_COLD void gather(session_base& s, const data::position& at) {
        const membership m = s.member();
        const auto n = static_cast<std::size_t>(m.count), me = static_cast<std::size_t>(m.index);
        std::vector<double> all(3 * n);
        all[me] = static_cast<double>(at.epoch);
        all[n + me] = static_cast<double>(at.index);
        all[2 * n + me] = static_cast<double>(at.cursors.size());
        s.reduce(span<double>(all.data(), all.size()));
        passes.resize(n), indices.resize(n), cursor_sizes.resize(n);
        std::size_t bytes = 0, mine = 0;
        for (std::size_t i = 0; i < n; ++i) {
            passes[i] = static_cast<std::int64_t>(all[i]);
            indices[i] = static_cast<std::int64_t>(all[n + i]);
            cursor_sizes[i] = static_cast<std::int64_t>(all[2 * n + i]);
            if (i == me) mine = bytes;
            bytes += static_cast<std::size_t>(cursor_sizes[i]);
        }
        cursors.clear();
        if (bytes == 0) return cursor_sizes.clear();
        std::vector<double> each(bytes);   // a byte each: a few hundred, and a sum is what members have
        for (std::size_t i = 0; i < at.cursors.size(); ++i) each[mine + i] = static_cast<unsigned char>(at.cursors[i]);
        s.reduce(span<double>(each.data(), each.size()));
        for (const double byte : each) cursors += static_cast<char>(static_cast<unsigned char>(byte));
    }
    /// This member's; where the run had another number of members, the beginning of the pass. format_error where what
    /// was read cannot be all of their places.
    SINTER_COLD data::position of(membership m, const data::position& first) const {
        const auto n = static_cast<std::size_t>(m.count), me = static_cast<std::size_t>(m.index);
        if (passes.size() != n) return {first.epoch, 0};
        std::size_t begin = 0, left = cursors.size();
        bool fits = indices.size() == n && (cursor_sizes.empty() ? left == 0 : cursor_sizes.size() == n);
        for (std::size_t i = 0; fits && i < cursor_sizes.size(); ++i) {
            const auto size = static_cast<std::size_t>(cursor_sizes[i]);   // of a negative one: too large
            fits = size <= left;
            left -= fits ? size : 0;
            begin += i < me && fits ? size : 0;
        }
        if (!fits || left != 0)
            throw format_error("damaged", "run/places", "lists that do not fit together", "one place for each member");
        const auto mine = cursor_sizes.empty() ? 0 : static_cast<std::size_t>(cursor_sizes[me]);
        return {passes[me], indices[me], cursors.substr(begin, mine)};
    }
    void state(auto& s) {
        s("passes", passes)("indices", indices);
        s.where_any("cursor_sizes", cursor_sizes).where_any("cursors", cursors);
    }
};

} // namespace sinter::training_parts
