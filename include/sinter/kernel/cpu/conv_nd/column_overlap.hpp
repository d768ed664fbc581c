// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// Columns of sources that MR neighbouring results of a row, S columns apart, overlap through K
/// taps side by side: each is read once for all results that overlap it, where a load for each tap
/// would hold up the multiply-adds.
namespace sinter::inline SINTER_TARGET::cpu {

template <int MR, int K, int S>
using column_overlap = indices<(MR - 1) * S + K>;

/// The result that overlaps a column through a tap; none: -1.
template <int MR, int S>
constexpr int result_overlapped(int column, int tap) {
    return column >= tap && (column - tap) % S == 0 && (column - tap) / S < MR ? (column - tap) / S : -1;
}
/// read(p, column, v): reads what lies there; is it there? Of each result that overlaps the column:
/// its sum and the tap's weight, or (Weights) the tap's sum and its gradient.
template <int MR, int K, int S, bool Weights, int Column, class Read, int... Tap>
SINTER_INLINE void add_column(const float*& from, std::int64_t step, Read read, const vf* factor, vf* sum,
                              std::integer_sequence<int, Tap...>) {
    if constexpr (Column % 3 == 0 && Column > 0) {   // one register more, and steps of up to two
        from += 3 * step;
        asm("" : "+r"(from));
    }
    vf v;
    if (!read(from + Column % 3 * step, Column, v)) return;
    pin(v);
    const auto add = [&](int result, int tap) SINTER_ALWAYS {
        if (result < 0) return;
        vf& to = sum[Weights ? tap : result];
        to = fma(v, factor[Weights ? result : tap], to);
    };
    (add(result_overlapped<MR, S>(Column, Tap), Tap), ...);
}
template <int MR, int K, int S, bool Weights, class Read, int... Column>
SINTER_INLINE void add_columns(const float* from, std::int64_t step, Read read, const vf* factor, vf* sum,
                               std::integer_sequence<int, Column...>) {
    (add_column<MR, K, S, Weights, Column>(from, step, read, factor, sum, indices<K>{}), ...);
}
/// From `from` on, `step` floats from column to column.
template <int MR, int K, int S, bool Weights = false, class Read>
SINTER_INLINE void add_columns(const float* from, std::int64_t step, Read read, const vf* factor, vf* sum) {
    add_columns<MR, K, S, Weights>(from, step, read, factor, sum, column_overlap<MR, K, S>{});
}

} // namespace sinter::cpu
