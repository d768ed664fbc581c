// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Rows of a table whose keys are any 64-bit numbers, as they are moved between a worker and its
/// servers when a model is saved or loaded: some at a time, each with its key, the step that
/// updated it last, its values and those of the optimizer's slots.
struct table_rows {
    std::int64_t table = 0;
    std::int64_t first = 0;   ///< when reading: the lowest key. When writing: nonzero: rows that are there go first
    int row_floats = 0, slots = 0;   ///< slots 0: they begin anew
    std::vector<std::int64_t> keys, steps;
    std::vector<float> values;   ///< [rows, 1 + slots, row_floats]

    std::size_t size() const { return keys.size(); }
    std::size_t width() const { return static_cast<std::size_t>(row_floats) * static_cast<std::size_t>(1 + slots); }
    const float* row(std::size_t i) const { return values.data() + i * width(); }
    void clear() { keys.clear(), steps.clear(), values.clear(); }

    /// How many fit into one frame.
    static std::int64_t most(int row_floats, int slots) {
        const std::int64_t each = 16 + std::int64_t{4} * row_floats * (1 + slots);
        return std::max<std::int64_t>(1, (std::int64_t{1} << 19) / each);
    }
    template <class A>
    void serialize(A& a, unsigned) {
        a & table & first & row_floats & slots & keys & steps & values;
    }
    /// Throws format_error where its numbers do not fit together.
    void check() const {
        if (table < 0 || row_floats < 0 || row_floats > 1 << 20 || slots < 0 || slots > 64 ||
            steps.size() != size() || values.size() != size() * width())
            throw format_error("makes no sense", "rows of a table on their way");
    }
};

} // namespace sinter::parameter_servers
