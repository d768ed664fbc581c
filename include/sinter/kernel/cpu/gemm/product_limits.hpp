// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product.hpp>
#include <sinter/kernel/cpu/vector/caches.hpp>

/// From where on the loops around tiles gather, carry sums and prefetch memory: by what the caches
/// hold.
namespace sinter::inline SINTER_TARGET::cpu {

/// A panel that must be gathered is cut into pieces that stay in L1; one that is packed already
/// streams well from L2.
inline constexpr std::int64_t gathered_floats = first_level_floats, streamed_floats = 65536;
/// Rows whose sums are finished in one call.
inline constexpr std::int64_t finished_rows = 64;
/// A packed right operand that is probably not in the second-level cache, other weights having
/// passed since: where there are few rows, each panel is prefetched while the one before it is
/// multiplied.
inline constexpr std::int64_t non_temporal_floats = 49152;
/// A result that lies in L1 with what goes with it, and sums too short to hide anything behind:
/// nothing is prefetched. Of sums less than twice as long, nothing that L2 holds.
inline constexpr std::int64_t near_floats = 4096, short_sum = 8;
/// A packed result that probably lies in no cache; of a smaller one nothing is prefetched: the
/// lines that are written follow each other, and come in time. But of several arrays, as an
/// optimizer's moments are, that do not fit into the second-level cache.
inline constexpr std::int64_t memory_floats = 1 << 20;
inline bool prefetches_result(const product& q, const epilogue& f) {
    return f.prefetch && q.rows * q.columns * f.arrays > (f.arrays > 1 ? second_level_floats : memory_floats);
}
/// And most of it, too: then lines are prefetched one by one while sums go on, which costs more
/// than what some of them would be waited for.
inline bool prefetches_by_lines(const product& q, const epilogue& f) {
    return prefetches_result(q, f) && (f.arrays == 1 || q.rows * q.columns * f.arrays > 2 * second_level_floats);
}
/// Where sums are too short for a line to come from memory meanwhile, lines are prefetched so many
/// tiles before.
inline constexpr std::int64_t prefetched_tiles = 4;
/// Tiles that carry their sums from piece to piece of a deep product: many, for each group of them
/// gathers its panel anew.
inline constexpr int carried_tiles = 384 / tile_rows;

} // namespace sinter::cpu
