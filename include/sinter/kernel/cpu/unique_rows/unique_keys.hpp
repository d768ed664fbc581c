// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/round_up.hpp>
#include <sinter/kernel/cpu/gemm/row_cover.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>
#include <sinter/kernel/cpu/rowwise/body.hpp>
#include <sinter/kernel/cpu/rowwise/nest.hpp>
#include <sinter/ops/internal/unique_rows.hpp>
#include <cstring>

namespace sinter::inline SINTER_TARGET::cpu {

/// The extents of the kernels of ops/internal/unique_rows.hpp.
struct unique_shape {
    std::int64_t columns, width, outputs, numbers, first, numbers_first;
    constexpr explicit unique_shape(const std::int64_t* e)
        : columns(e[unique_extent::columns]), width(e[unique_extent::width]), outputs(e[unique_extent::outputs]),
          numbers(e[unique_extent::numbers]), first(e[unique_extent::first]),
          numbers_first(e[unique_extent::numbers_first]) {}
};

/// A batch's keys, the unique rows of each column, one column's after the other's: where they
/// lie.
struct unique_keys {
    float* rows;                 ///< [keys][width], copies of the table's
    std::int32_t* key_of;        ///< [examples][columns]
    std::int32_t* row;           ///< [keys]
    std::int32_t* next;          ///< [keys]: the next column's key of the same row, or -1
    std::int32_t* heads;         ///< the first key of each unique row
    std::int32_t* last;          ///< [keys]: the last example that has it
    std::int32_t* before;        ///< [columns][examples]: the one before that has the same key, or -1
    std::int32_t* column;        ///< [columns + 1]: each column's first key
    std::int32_t* head_count;

    unique_keys(float* p, const unique_shape& s, std::int64_t m) : rows(p) {
        const std::int64_t most = m * s.columns;
        key_of = reinterpret_cast<std::int32_t*>(p + most * s.width);
        row = key_of + most;
        next = row + most;
        heads = next + most;
        last = heads + most;     // one too many of these is read
        before = last + most + 1;
        column = before + most;
        head_count = column + s.columns + 1;
        static_assert(unique_floats(1, 1) ==
                      1 + 6 + 1 + 2 + 1);   // for one example of C columns: C (width + 6) + 1, C + 1, 1
    }
};

/// Products of rows with one panel of a right operand, [depth][NR vectors] of b_step: to[i][..] for
/// i < rows.
template <int NR>
__attribute__((noinline)) inline void multiply_rows(float* to, std::int64_t to_step, const float* x,
                                                    std::int64_t row_step, std::int64_t rows, const float* b,
                                                    std::int64_t b_step, std::int64_t depth) {
    const auto tile = [&](auto height, std::int64_t i) SINTER_ALWAYS {
        constexpr int MR = decltype(height)::value;
        vf c[std::size_t{MR * NR}];
        unroll<MR * NR>([&](int k) SINTER_ALWAYS { c[k] = zero(); });
        accumulate<MR, NR>(c, x + i * row_step, row_step, 1, b, b_step, depth);
        unroll<MR * NR>([&](int k) SINTER_ALWAYS { store(to + (i + k / NR) * to_step + k % NR * lanes, c[k]); });
    };
    for_each_tile(rows, tile);
}

/// Calls f(vectors, j) for blocks of columns, whose number is a multiple of lanes: as many vectors
/// at once as have registers.
template <class F>
SINTER_INLINE void for_each_block(std::int64_t columns, F f) {
    std::int64_t j = 0;
    for (; j + 8 * lanes <= columns; j += 8 * lanes) f(std::integral_constant<int, 8>{}, j);
    if (j + 4 * lanes <= columns) f(std::integral_constant<int, 4>{}, j), j += 4 * lanes;
    for (; j < columns; j += lanes) f(std::integral_constant<int, 1>{}, j);
}

/// Calls f(column, first key, end) for the keys that are this part's.
template <class F>
SINTER_INLINE void for_each_column(const unique_keys& k, const unique_shape& s, const call& c, F f) {
    const std::int64_t n = k.column[s.columns], from = share(n, c.part, c.parts), to = share(n, c.part + 1, c.parts);
    for (std::int64_t i = 0; i < s.columns; ++i) {
        const std::int64_t begin = k.column[i] > from ? k.column[i] : from,
                           end = k.column[i + 1] < to ? k.column[i + 1] : to;
        if (begin < end) f(i, begin, end);
    }
}

} // namespace sinter::cpu
