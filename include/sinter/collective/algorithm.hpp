// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/algorithm/gather_rows.hpp>
#include <sinter/collective/algorithm/halving_doubling.hpp>
#include <sinter/collective/algorithm/ring.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

enum class algorithm : std::uint8_t { ring, halving_doubling, automatic };

/// Of `automatic`: up to so many bytes rounds count (halving_doubling), beyond it bytes do (ring).
/// With 2 members both send the same. An estimate: where they cross depends on latency and
/// bandwidth.
inline constexpr std::int64_t automatic_limit = 256 << 10;

/// Which algorithm carries out an operation.
inline void perform(algorithm a, workshop& w, const job& j) {
    if (w.size() == 1) return;
    const bool power_of_two = std::has_single_bit(static_cast<unsigned>(w.size()));
    const bool halves = a == algorithm::halving_doubling ||
                        (a == algorithm::automatic && j.n * bytes_of(j.what.type) <= automatic_limit);
    switch (j.what.what) {
        case kind::all_reduce: return halves ? halving_doubling_all_reduce(w, j) : ring_all_reduce(w, j);
        case kind::all_reduce_tree: return all_reduce_in_tree_order(w, j);
        case kind::reduce_scatter:   // in the order of all_reduce, so that either gives the same bits
            if (!halves) return ring_reduce_scatter(w, j);
            return power_of_two ? reduce_scatter_in_tree_order(w, j) : halving_doubling_all_reduce(w, j);
        case kind::reduce_scatter_tree: return reduce_scatter_in_tree_order(w, j);
        case kind::all_gather:
            return halves && power_of_two ? halving_doubling_all_gather(w, j) : ring_all_gather(w, j);
        case kind::broadcast: return broadcast(w, j);
        case kind::all_gather_rows: return gather_rows(w, j);
        case kind::barrier: return tree_barrier(w, j);
        case kind::shift: return ring_shift(w, j);
    }
}

}   // namespace sinter::inline SINTER_ORDINARY::collective
