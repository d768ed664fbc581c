// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/transpose.hpp>

/// Rows of two or three numbers, as many as a vector has lanes, one behind the other in memory; in
/// registers a vector for each column.
namespace sinter::inline SINTER_TARGET::cpu {

/// Picks for three columns: number 3 l + J of two vectors laid end to end, where it is one of
/// those, and of a third one.
template <int J>
struct third_of_two {
    static constexpr int lane(int l) { return 3 * l + J < 2 * lanes ? 3 * l + J : 0; }
};
template <int J>
struct third_of_rest {
    static constexpr int lane(int l) { return 3 * l + J < 2 * lanes ? l : 3 * l + J - lanes; }
};
/// And back: number K * lanes + l of rows of Columns, out of columns 0 and 1, and of column 2.
template <int Columns, int K>
struct row_of_two {
    static constexpr int lane(int l) {
        const int e = K * lanes + l, column = e % Columns;
        return column == 0 ? e / Columns : column == 1 ? lanes + e / Columns : 0;
    }
};
template <int K>
struct row_of_rest {
    static constexpr int lane(int l) { return (K * lanes + l) % 3 < 2 ? l : lanes + (K * lanes + l) / 3; }
};

/// Column J of the rows at p.
template <int Columns, int J>
SINTER_INLINE vf load_column(const float* p) {
    static_assert(Columns == 2 || Columns == 3);
    const vf a = load(p), b = load(p + lanes);
    if constexpr (Columns == 2) return shuffle<every_second<J>>(a, b);
    else return shuffle<third_of_rest<J>>(shuffle<third_of_two<J>>(a, b), load(p + 2 * lanes));
}
/// Rows of these columns to p.
template <int Columns>
SINTER_INLINE void store_columns(float* p, const vf* column) {
    static_assert(Columns == 2 || Columns == 3);
    unroll<Columns>([&](auto k) SINTER_ALWAYS {
        const vf two = shuffle<row_of_two<Columns, k>>(column[0], column[1]);
        if constexpr (Columns == 2) store(p + k * lanes, two);
        else store(p + k * lanes, shuffle<row_of_rest<k>>(two, column[2]));
    });
}

} // namespace sinter::cpu
