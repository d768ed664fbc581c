// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <bit>
#include <sinter/collective/algorithm/tree.hpp>

/// Halving and doubling: with the member at distance 1, then 2, 4..., each exchanges half of what
/// is left, and combines; then the same back. Every element is combined as ((x0 + x1) + (x2 + x3))
/// + ... in 2 log P rounds instead of the ring's 2 (P - 1). Source: Thakur, Rabenseifner and Gropp,
/// Optimization of collective communication operations in MPICH, 2005.
namespace sinter::inline SINTER_ORDINARY::collective {

namespace detail {

/// A power of two of members who exchange, in this order; `rank` is one of them.
struct circle {
    int rank, size;
    int folded = 0;   // the first so many come in pairs of members, of whom the first takes part
    int member(int r) const { return r < folded ? 2 * r : r + folded; }
};

/// Whole vectors of one piece: half the rounds, for small ones.
inline void double_whole(workshop& w, const job& j, const circle& c) {
    const pieces cut(j, w, 1);
    for (int d = 1; d < c.size; d *= 2) {
        const int other = c.member(c.rank ^ d);
        w.exchange(
            j, other, 1, [&](std::int64_t) { return cut.send(0, 0); }, other, 1,
            [&](std::int64_t) { return cut.receive_in(w.scratch(), 0, 0); }, at_once, nothing_more);
        cut.combine(w.scratch(), (c.rank & d) != 0, 0, 0);   // only now has mine been sent
    }
}

/// The k-th of all parts p with (p & mask) == bits.
constexpr int part_with(std::int64_t k, int mask, int bits) { return static_cast<int>(k) * (mask + 1) | bits; }

/// Each member's part becomes whole. (Parts whose numbers end in the same bits go together: halves
/// would make member r's part another one than r.)
inline void halve(workshop& w, const job& j, const circle& c) {
    const pieces cut(j, w, c.size);
    const std::int64_t each = cut.of_a_part();
    for (int d = 1; d < c.size; d *= 2) {
        const int mask = 2 * d - 1, keep = c.rank & mask, give = keep ^ d, other = c.member(c.rank ^ d);
        const std::int64_t count = each * (c.size / (2 * d));
        w.exchange(
            j, other, count, [&](std::int64_t k) { return cut.send(part_with(k / each, mask, give), k % each); }, other,
            count,
            [&](std::int64_t k) { return cut.receive_in(w.scratch(), part_with(k / each, mask, keep), k % each); },
            at_once,
            [&](std::int64_t k) {
                cut.combine(w.scratch(), (c.rank & d) != 0, part_with(k / each, mask, keep), k % each);
            });
    }
}
/// Everybody gets all parts.
inline void gather_doubling(workshop& w, const job& j, const circle& c) {
    const pieces cut(j, w, c.size);
    const std::int64_t each = cut.of_a_part();
    for (int d = c.size / 2; d > 0; d /= 2) {
        const int mask = 2 * d - 1, has = c.rank & mask, other = c.member(c.rank ^ d);
        const std::int64_t count = each * (c.size / (2 * d));
        w.exchange(
            j, other, count, [&](std::int64_t k) { return cut.send(part_with(k / each, mask, has), k % each); }, other,
            count, [&](std::int64_t k) { return cut.receive(part_with(k / each, mask, has ^ d), k % each); }, at_once,
            nothing_more);
    }
}

}   // namespace detail

/// Where whole vectors are sent although half would do: the bytes from which on fewer bytes are
/// worth more than fewer rounds.
inline constexpr std::int64_t doubling_limit = 32 << 10;

/// For any number P of members: of the first P - 2^k, each takes what its neighbour has.
inline void halving_doubling_all_reduce(workshop& w, const job& j) {
    const int size = static_cast<int>(std::bit_floor(static_cast<unsigned>(w.size()))), folded = w.size() - size;
    const int rank = w.rank();
    if (rank < 2 * folded && rank % 2) {
        detail::send_all(w, j, rank - 1);
        detail::receive_all(w, j, rank - 1);
        return;
    }
    if (rank < 2 * folded) detail::combine_all(w, j, rank + 1);
    const detail::circle c{rank < 2 * folded ? rank / 2 : rank - folded, size, folded};
    if (const std::int64_t bytes = j.n * bytes_of(j.what.type); bytes <= std::min(w.piece_bytes(), doubling_limit)) {
        detail::double_whole(w, j, c);
    } else {
        detail::halve(w, j, c);
        detail::gather_doubling(w, j, c);
    }
    if (rank < 2 * folded) detail::send_all(w, j, rank + 1);
}

/// In the order of all_reduce_tree.
inline void all_reduce_in_tree_order(workshop& w, const job& j) {
    if (std::has_single_bit(static_cast<unsigned>(w.size()))) halving_doubling_all_reduce(w, j);
    else tree_all_reduce(w, j);
}
inline void reduce_scatter_in_tree_order(workshop& w, const job& j) {
    const detail::circle c{w.rank(), w.size()};
    if (std::has_single_bit(static_cast<unsigned>(w.size()))) detail::halve(w, j, c);
    else tree_all_reduce(w, j);
}
inline void halving_doubling_all_gather(workshop& w, const job& j) {
    detail::gather_doubling(w, j, {w.rank(), w.size()});   // of a power of two of members
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
