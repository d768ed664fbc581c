// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <sinter/collective/algorithm/pieces.hpp>

/// Binomial trees, and what needs no more than them.
namespace sinter::inline SINTER_ORDINARY::collective {

namespace detail {

inline constexpr auto at_once = [](std::int64_t, std::int64_t) { return true; };
inline constexpr auto nothing_more = [](std::int64_t) {};
inline constexpr auto no_send = [](std::int64_t) { return workshop::outgoing{}; };
inline constexpr auto no_receive = [](std::int64_t) { return workshop::incoming{}; };

/// The whole of the data from one member to another: this one's side of it.
inline void send_all(workshop& w, const job& j, int to) {
    const pieces cut(j, w, 1);
    w.exchange(
        j, to, cut.of_a_part(), [&](std::int64_t k) { return cut.send(0, k); }, -1, 0, no_receive, at_once,
        nothing_more);
}
inline void receive_all(workshop& w, const job& j, int from) {
    const pieces cut(j, w, 1);
    w.exchange(
        j, -1, 0, no_send, from, cut.of_a_part(), [&](std::int64_t k) { return cut.receive(0, k); }, at_once,
        nothing_more);
}
/// What comes is the second operand.
inline void combine_all(workshop& w, const job& j, int from) {
    const pieces cut(j, w, 1);
    w.exchange(
        j, -1, 0, no_send, from, cut.of_a_part(), [&](std::int64_t k) { return cut.receive_in(w.scratch(), 0, k); },
        at_once, [&](std::int64_t k) { cut.combine(w.scratch(), false, 0, k); });
}

/// From `root` on: in round d, those who have it send it d further.
inline void tree_broadcast(workshop& w, const job& j, int root) {
    const int members = w.size(), mine = (w.rank() - root + members) % members;
    const auto member = [&](int k) { return (k + root) % members; };
    int d = 1;   // the least bit of mine; for the root, beyond all
    while (d < members && !(mine & d)) d *= 2;
    if (mine != 0) receive_all(w, j, member(mine - d));
    for (d /= 2; d > 0; d /= 2)
        if (mine + d < members) send_all(w, j, member(mine + d));
}

}   // namespace detail

/// Returns when all have come: in round d everybody notifies the member d further on.
inline void tree_barrier(workshop& w, const job& j) {
    const int members = w.size(), rank = w.rank();
    job empty = j;
    for (int d = 1; d < members; d *= 2)
        w.exchange(
            empty, (rank + d) % members, 1,
            [&](std::int64_t) {
                return workshop::outgoing{d, {}};
            },
            (rank - d + members) % members, 1,
            [&](std::int64_t) {
                return workshop::incoming{d, {}};
            },
            detail::at_once, detail::nothing_more);
}

/// The order of all_reduce_tree for any number of members: joined at member 0, sent to all. First
/// all meet: see broadcast().
inline void tree_all_reduce(workshop& w, const job& j) {
    const int rank = w.rank();
    tree_barrier(w, j);
    for (int d = 1; d < w.size(); d *= 2) {
        if (rank & d) {
            detail::send_all(w, j, rank - d);
            break;
        }
        if (rank + d < w.size()) detail::combine_all(w, j, rank + d);
    }
    detail::tree_broadcast(w, j, 0);
}

/// Small data by a tree, large ones along a chain, piece after piece. First all meet: everybody's
/// neighbour then knows whether it was asked for the same, also where nobody would send anything,
/// as when each waits for another root.
inline void broadcast(workshop& w, const job& j) {
    const int members = w.size(), rank = w.rank(), root = j.what.root;
    tree_barrier(w, j);
    const pieces cut(j, w, 1);
    const std::int64_t each = cut.of_a_part();
    if (each == 1) {
        detail::tree_broadcast(w, j, root);
    } else {
        const int to = (rank + 1) % members, from = (rank - 1 + members) % members;
        w.exchange(
            j, to, to == root ? 0 : each, [&](std::int64_t k) { return cut.send(0, k); }, from, rank == root ? 0 : each,
            [&](std::int64_t k) { return cut.receive(0, k); },
            [&](std::int64_t k, std::int64_t received) { return rank == root || received > k; }, detail::nothing_more);
    }
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
