// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/strategy/synchronous/kept_parts.hpp>
#include <sinter/strategy/synchronous/program_facts.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// Who keeps what of a slot.
enum class keeper : char { another, this_member, this_copies, everybody };

/// Of each of n floats from an address on, within one slot of training program P.
template <class P>
std::vector<keeper> keepers_of_slot(const kept_parts& kept, compiler::address from, std::int64_t n) {
    std::vector<keeper> k(static_cast<std::size_t>(n), keeper::everybody);
    const std::int64_t first = from.offset() % P::v.z.trained;
    for (int b = 0; b < P::v.n_buckets; ++b) {
        if (!of_program::in_parts<P>(b)) continue;
        const std::int64_t begin = of_program::parameters_of<P>(b).offset(), floats = P::v.buckets[b].floats;
        const auto fill = [&](collective::part_range r, keeper who) {
            for (std::int64_t j = std::max(begin + r.first, first); j < std::min(begin + r.end, first + n); ++j)
                k[static_cast<std::size_t>(j - first)] = who;
        };
        fill({0, floats}, keeper::another);
        for (int i = kept.count() - 1; i >= 0; --i)
            fill(kept.part(floats, i), i ? keeper::this_copies : keeper::this_member);
    }
    return k;
}

} // namespace sinter::strategy_parts
