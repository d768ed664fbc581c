// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

#include <sinter/base/target_namespace.hpp>
#include <sinter/base/round_up.hpp>

namespace sinter::inline SINTER_TARGET::compiler {

/// What a program must know of the device it is planned for: numbers, not code.
struct target {
    int lanes = 1;    ///< columns of packed weights are padded to a multiple of this; 1: weights lie plain
    int parts = 1;    ///< shares that a kernel's work is cut into; fixed, so that threads never change a sum's order
    bool pooled_convolutions =
        true;   ///< convolutions' kernels take the max-pool behind them, and gradients through it
    bool winograd = false;             ///< kernels for 3 x 3 and 5 x 5 convolutions by Winograd's minimal filtering
    bool bfloat16_pairs = false;   ///< kernels that multiply pairs of bfloat16, faster than those that multiply float32
    bool transposed_weights = false;       ///< kernels that multiply by large weights' transpose without one in memory
    bool transposed_products = false;  ///< libraries that multiply by weights' transpose as they lie, at no cost
    bool unique_rows = false;        ///< kernels that multiply each unique row of a table with weights once
    bool product_sums = false;         ///< kernels that sum some products
    bool fused_producers = false;        ///< kernels that run a walk over the rows that they read, some rows at a time
    bool row_lists = false;            ///< kernels that make a table's gradient as a list of rows, and update by one
    bool column_sums = false;          ///< weights' gradients' kernels that sum the columns of what they read

    std::int64_t non_temporal_floats = 0;   ///< results of so many are stored non-temporally; 0: none are
    bool non_temporal_walks = false;   ///< but only by walks, whose vectors follow each other: a vector is half a line

    constexpr bool operator==(const target&) const = default;
};

} // namespace sinter::compiler
