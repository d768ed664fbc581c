// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/call.hpp>
#include <sinter/kernel/cpu/gemm/tile.hpp>

/// What the loops around tiles are told: the operands of a product, and what a body does with a
/// finished tile.
namespace sinter::inline SINTER_TARGET::cpu {

/// How the right operand lies: as panels, row-major [depth][columns], or transposed, row-major
/// [columns][depth] or as panels of that.
enum class right { panels, rows, columns, transposed_panels };

/// result[rows][columns] = sum over t < depth of a[i * row_step + t * sum_step] * B[t][j].
struct product {
    const float* a;
    std::int64_t row_step, sum_step;
    const float* b;
    std::int64_t b_step;                ///< floats from one row of b to the next (unless panels)
    right b_layout;
    std::int64_t rows, columns, depth;  ///< all at least 1
    bool packed_result;                 ///< offsets and padding as in panels of [rows][columns], else row-major
    std::int64_t off, row;              ///< of the first element (one of several matrices)
    std::int64_t result_step = 0;       ///< from row to row of a row-major result; 0: its columns
    int col = 0;                        ///< of the first element, where the result is some columns of a wider one
    bool by_rows = false;               ///< parts have some rows each, instead of columns
};

/// The finished sums of some rows of a tile: [rows][width], of which `columns` are wanted.
struct finished {
    const float* sums;
    int rows, columns, width;
    std::int64_t off, off_step;         ///< offset of the first row in the result, and from row to row
    std::int64_t row;
    int col;
};

using direct_function = void (*)(const float* from, const float* x, std::int64_t row_step, std::int64_t sum_step,
                                 const float* b, std::int64_t b_step, std::int64_t n, const finished&, const call&);

/// Tiles of one height below each other, from nothing; `done` tells of the first one's place.
using small_function = void (*)(const float* x, std::int64_t row_step, std::int64_t sum_step, const float* b,
                                std::int64_t b_step, std::int64_t n, std::int64_t tiles, const finished& done,
                                const call&);

/// What a body gives the driver. `direct` may be null; it does a large tile of a whole panel
/// without the detour over memory. `prefetch` may be null; it prefetches the memory that `finish`
/// will touch, while the sums are still being computed.
struct epilogue {
    void (*finish)(const finished&, const call&);
    direct_function direct = nullptr;
    direct_function direct_prefetching = nullptr;   ///< does what `prefetch` does, too; of at least tile_rows terms
    void (*prefetch)(const finished&, const call&) = nullptr;
    /// What `prefetch` touches, to be prefetched line by line.
    void (*list)(const finished&, const call&, tile_lines&) = nullptr;
    void (*columns)(const finished&, const call&) = nullptr;   ///< as finish, with the sums as [columns][width]
    small_function large = nullptr,
                   small = nullptr;   ///< of small products: tiles of whole panels, summed and finished in registers
    small_function below = nullptr;   ///< the same of any product's large tiles, whose lines are prefetched
    bool by_part = false;   ///< the body has sums of its own for each part
    int arrays = 1;         ///< that the body writes

    /// Lists a tile's lines, to be prefetched one an iteration, unless they are more than its loop
    /// has iterations; are there any?
    bool lists(const finished& t, const call& c, std::int64_t iterations, tile_lines& lines) const {
        list(t, c, lines);
        if (lines.count > iterations) lines.count = 0;
        return lines.count > 0;
    }
};

} // namespace sinter::cpu
