// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace sinter::inline SINTER_TARGET::sharded {

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
    std::string bytes() const {
        const std::int64_t head[5] = {table, first, row_floats, slots, static_cast<std::int64_t>(size())};
        std::string to;
        const auto put = [&](const void* from, std::size_t n) { to.append(static_cast<const char*>(from), n); };
        put(head, sizeof head);
        put(keys.data(), 8 * keys.size()), put(steps.data(), 8 * steps.size()), put(values.data(), 4 * values.size());
        return to;
    }
    /// Throws format_error where these are no such bytes.
    static table_rows of(std::string_view from) {
        table_rows r;
        std::int64_t head[5] = {};
        const auto fault = [] { throw format_error("makes no sense", "rows of a table on their way"); };
        if (from.size() < sizeof head) fault();
        std::memcpy(head, from.data(), sizeof head);
        from.remove_prefix(sizeof head);
        const std::int64_t width = head[2], slots = head[3], n = head[4];
        if (width < 0 || width > 1 << 20 || slots < 0 || slots > 64 || n < 0 || n > 1 << 20 ||
            static_cast<std::int64_t>(from.size()) != n * (16 + 4 * width * (1 + slots)))
            fault();
        r.table = head[0], r.first = head[1];
        r.row_floats = static_cast<int>(width), r.slots = static_cast<int>(slots);
        const auto take = [&](auto& to, std::size_t count) {
            to.resize(count);
            const std::size_t bytes = count * sizeof(to[0]);
            if (bytes) std::memcpy(to.data(), from.data(), bytes);
            from.remove_prefix(bytes);
        };
        const auto rows = static_cast<std::size_t>(n);
        take(r.keys, rows), take(r.steps, rows), take(r.values, rows * r.width());
        return r;
    }
};

} // namespace sinter::sharded
