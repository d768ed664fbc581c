// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/lazy_array.hpp>
#include <memory>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

class row_store;

/// What somebody who copies a store's rows, some at a time, would miss: those that have changed since the copy was
/// begun, as they were. Memory is taken for these alone.
class kept_rows {
public:
    struct row {
        std::int64_t key, step;
        const float* floats;   ///< values, then those of each slot
    };
    /// Of the store's rows 0 to rows - 1, each of so many floats with its slots.
    kept_rows(std::int64_t rows, std::size_t floats) : rows_(rows), floats_(floats), number_(at(rows)) {}

    std::shared_ptr<row_store> store;   ///< where they are, once they are the table's no more
    std::int64_t rows() const { return rows_; }
    /// Whether this row must be added before it changes.
    bool lacks(std::int64_t r) const { return r < rows_ && number_[r] == 0; }
    /// Where its floats are to be put.
    float* add(std::int64_t r, std::int64_t key, std::int64_t step) {
        if (heads_.size() % of_chunk == 0)
            chunks_.push_back(std::make_unique_for_overwrite<float[]>(of_chunk * floats_));
        float* const to = chunks_.back().get() + heads_.size() % of_chunk * floats_;
        heads_.push_back({key, step, to});
        number_[r] = static_cast<std::int32_t>(heads_.size());
        return to;
    }
    /// Null: it has not changed.
    const row* find(std::int64_t r) const { return number_[r] ? &heads_[at(number_[r] - 1)] : nullptr; }

private:
    static constexpr std::size_t of_chunk = 256;
    std::int64_t rows_;
    std::size_t floats_;
    lazy_array<std::int32_t> number_;   ///< of a row: its place here + 1; 0: none
    std::vector<row> heads_;
    std::vector<std::unique_ptr<float[]>> chunks_;

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
};

} // namespace sinter::parameter_servers
