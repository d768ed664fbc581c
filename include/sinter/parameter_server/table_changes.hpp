// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The rows of a server's part of a table that have changed since a global step, in memory of their
/// own.
struct table_changes {
    std::int64_t since = 0;   ///< 0: all rows that were ever updated; an older copy is worth nothing then
    std::int64_t step = 0;    ///< the values are those after so many global steps
    int row_floats = 0;
    std::vector<std::int64_t> keys;      ///< local rows, or 64-bit keys
    std::vector<float> values;           ///< [keys, row_floats]
    std::vector<std::int64_t> removed;   ///< keys that have no row any more
};

class row_store;   // parameter_server/row_store.hpp

/// The rows that the update after global step `since`, or a later one, has named. Where that is
/// longer ago than the table remembers which rows it gave up: all rows, since 0.
SINTER_APART SINTER_COLD table_changes changes_of(const row_store& rows, std::int64_t since, std::int64_t step);

} // namespace sinter::parameter_servers

#if SINTER_BODIES
#include <sinter/parameter_server/row_store.hpp>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

SINTER_APART table_changes changes_of(const row_store& rows, std::int64_t since, std::int64_t step) {
    table_changes c{since, step, rows.row_floats(), {}, {}, {}};
    if (since == 0 || !rows.removed_since(since, c.removed)) c.since = 0, c.removed.clear();
    rows.for_each_since(c.since, [&](std::int32_t number, std::int64_t key) {
        c.keys.push_back(key);
        const float* const row = rows.values() + std::int64_t{number} * c.row_floats;
        c.values.insert(c.values.end(), row, row + c.row_floats);
    });
    return c;
}

} // namespace sinter::parameter_servers
#endif
