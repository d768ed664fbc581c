// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/round_up.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <bit>
#include <string>

namespace sinter::inline SINTER_TARGET::runtime {

/// Where steps are accumulated a table's gradient is gathered in a slot [table_rows, row_floats],
/// which begins a round as -0 (train/optimizers/accumulate.hpp): a row that holds anything else has
/// occurred in the round, and an update reads no others.
inline bool has_gathered(const float* row, int row_floats) {
    std::uint32_t any = 0;
    for (int j = 0; j < row_floats; ++j) any |= std::bit_cast<std::uint32_t>(row[j]) ^ 0x80000000u;
    return any != 0;
}

/// The rows of a slot that have gathered anything, as a list for others, by their numbers. `to` has
/// memory for `most_rows`, and as much as fills a line of 16 floats. Throws data_error where there
/// are more.
inline void list_gathered_rows(const float* slot, int table_rows, int most_rows, const row_list& to) {
    *to.keys = 0;
    for (int i = 0; i < table_rows; ++i) {
        const float* const row = slot + std::int64_t{i} * to.row_floats;
        if (!has_gathered(row, to.row_floats)) continue;
        if (*to.keys == most_rows)
            throw data_error("too many rows of a table have gathered gradients", "row " + std::to_string(i), "more",
                             std::to_string(most_rows) + " at most");
        to.key(*to.keys) = i;
        std::copy_n(row, to.row_floats, to.row((*to.keys)++));
    }
    const std::int64_t end = std::int64_t{*to.keys} * to.row_floats;
    std::fill(to.rows + end, to.rows + base::round_up(end, 16), 0.f);
}

/// Writes a list's rows, which are the sums of all lists, into a slot. Others stay as they are.
inline void put_gathered_rows(const row_list& from, float* slot) {
    for (int k = 0; k < from.size(); ++k)
        std::copy_n(from.row(k), from.row_floats, slot + std::int64_t{from.key(k)} * from.row_floats);
}

} // namespace sinter::runtime
