// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// What a body will touch of some rows of a packed result's panels, prefetched a few rows at a time
/// while their sums are computed: all at once it would hold these up.
struct prefetch_rows {
    const epilogue& f;
    const call& c;
    finished block;                 ///< of the first panel, or some of its columns
    std::int64_t panel_step = 0;    ///< in the result
    int panels = 1;

    /// Rows [row, row + n), as far as there are any.
    void prefetch(int row, int n) const {
        finished some = block;
        some.rows = n < block.rows - row ? n : block.rows - row;
        some.off += row * some.off_step;
        for (int p = 0; p < panels && some.rows > 0; ++p, some.off += panel_step) f.prefetch(some, c);
    }
    /// One of so many shares of them.
    void prefetch_share(int share, int of) const {
        const int n = (block.rows + of - 1) / of;
        prefetch(share * n, n);
    }
};

} // namespace sinter::cpu
