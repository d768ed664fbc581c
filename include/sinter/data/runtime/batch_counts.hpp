// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/data/column.hpp>
#include <algorithm>

/// What all that makes batches counts alike.
namespace sinter::inline SINTER_ORDINARY::data {

/// Of n examples, which may be unknown_size or endless, those that batches deliver.
constexpr std::int64_t delivered_examples(std::int64_t n, int batch, bool drop_remainder) {
    return drop_remainder && n > 0 ? n - n % batch : n;
}
/// Batches that take a megabyte, but 2 to 16: how many are made ahead where nobody says.
SINTER_COLD inline int usual_depth(const column_list& columns, int batch) {
    const std::size_t bytes = 1 + columns.bytes() * static_cast<std::size_t>(batch);
    return static_cast<int>(std::clamp<std::size_t>((1 << 20) / bytes, 2, 16));
}

} // namespace sinter::data
