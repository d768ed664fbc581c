// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/algorithm/pieces.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// The ring: each member sends to the next one alone, (P - 1) / P of the data twice, which is the
/// least possible. Part c starts at member c + 1 and is whole at member c: every element is
/// combined once, in the order of ranks from c + 1 on, so that all members have the same bits. A
/// piece is passed on as soon as it has come and been combined, while the next is on its way.
/// Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of
/// workstations, 2009.
namespace detail {

/// Steps [first, end) of 2 (P - 1): the first half combines, the second half copies.
inline void ring_steps(workshop& w, const job& j, int first, int end) {
    const int members = w.size(), rank = w.rank();
    if (members == 1) return;
    const pieces cut(j, w, members);
    const std::int64_t each = cut.of_a_part();
    const auto wrapped = [&](int k) { return (k % members + members) % members; };
    const auto step_of = [&](std::int64_t k) { return first + static_cast<int>(k / each); };
    // Sent in step k is part rank - 1 - k, in the second half the one that became whole before.
    const auto sent_part = [&](std::int64_t k) { return wrapped(rank - 1 - step_of(k)); };
    const auto came_part = [&](std::int64_t k) { return wrapped(rank - 2 - step_of(k)); };
    const auto combines = [&](std::int64_t k) { return step_of(k) < members - 1; };
    const std::int64_t total = each * (end - first);
    w.exchange(
        j, wrapped(rank + 1), total, [&](std::int64_t k) { return cut.send(sent_part(k), k % each); },
        wrapped(rank - 1), total,
        [&](std::int64_t k) {
            return combines(k) ? cut.receive_in(w.scratch(), came_part(k), k % each)
                               : cut.receive(came_part(k), k % each);
        },
        [&](std::int64_t k, std::int64_t received) { return k < each || received > k - each; },
        [&](std::int64_t k) {
            if (combines(k)) cut.combine(w.scratch(), true, came_part(k), k % each);
        });
}

}   // namespace detail

inline void ring_all_reduce(workshop& w, const job& j) { detail::ring_steps(w, j, 0, 2 * (w.size() - 1)); }
/// The same order of every element's sum as in ring_all_reduce.
inline void ring_reduce_scatter(workshop& w, const job& j) { detail::ring_steps(w, j, 0, w.size() - 1); }
inline void ring_all_gather(workshop& w, const job& j) { detail::ring_steps(w, j, w.size() - 1, 2 * (w.size() - 1)); }
/// The first step of an all-gather.
inline void ring_shift(workshop& w, const job& j) { detail::ring_steps(w, j, w.size() - 1, w.size()); }

}   // namespace sinter::inline SINTER_ORDINARY::collective
