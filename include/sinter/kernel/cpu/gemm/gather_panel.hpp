// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/product.hpp>
#include <sinter/kernel/cpu/gemm/transposed_panel.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// Copies rows [t, t + n) of panel columns [j0, j0 + w) to [n][w], zeros where the matrix ends.
template <class = void>
__attribute__((noinline)) inline void gather_panel(const product& q, std::int64_t j0, int w, std::int64_t t,
                                                   std::int64_t n, float* to) {
    if (q.b_layout == right::transposed_panels)
        return gather_transposed_panel(q.b, q.columns, q.depth, j0, w, t, n, to);
    const int there = static_cast<int>(q.columns - j0 < w ? q.columns - j0 : w);
    if (q.b_layout == right::columns) {
        if (there < w)
            for (std::int64_t i = 0; i < n * w; i += lanes) store(to + i, zero());
        transpose_matrix(q.b + j0 * q.b_step + t, q.b_step, there, n, to, w, there < w);
        return;
    }
    const float* from = q.b + t * q.b_step + j0;
    for (std::int64_t i = 0; i < n; ++i, from += q.b_step, to += w)
        for (int j = 0; j < w; j += lanes)
            store(to + j, there - j >= lanes ? load(from + j) : there > j ? load(from + j, there - j) : zero());
}

} // namespace sinter::cpu
