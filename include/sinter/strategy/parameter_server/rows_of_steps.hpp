// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/round_up.hpp>
#include <sinter/base/row_list.hpp>
#include <sinter/device/arena.hpp>
#include <sinter/parameter_server/row_index.hpp>
#include <algorithm>

namespace sinter::inline SINTER_TARGET::strategy_parts {

/// The gradient of a table over several steps, each of which names other rows: added up by their
/// keys (parameter_server_options::push_every). Allocates nothing after its construction.
class rows_of_steps {
public:
    /// For at most so many unique keys.
    SINTER_COLD rows_of_steps(std::int64_t most, int width)
        : rows_(most), values_(base::round_up(most * width, 16)), keys_(static_cast<std::size_t>(list_header + most)),
          width_(width) {
        for (std::int32_t k = 0; k < most; ++k) keys_[static_cast<std::size_t>(list_header + k)] = k;
    }

    void clear() { rows_.clear(); }
    /// Adds the rows of a list, whose k-th row is of key(its key there).
    template <class Key>
    void add(const row_list& l, Key key) {
        for (int k = 0; k < l.size(); ++k) {
            const std::int32_t before = rows_.size(), at = rows_.place_of(key(l.key(k)));
            float* const to = values_.data() + std::int64_t{at} * width_;
            const float* const from = l.row(k);
            if (at == before) std::copy_n(from, width_, to);
            else
                for (int j = 0; j < width_; ++j) to[j] += from[j];
        }
    }
    void scale(float by) {
        float* const x = values_.data();
        for (std::int64_t i = 0; i < std::int64_t{rows_.size()} * width_; ++i) x[i] *= by;
    }
    /// Its keys, in the order in which they came first.
    span<const std::int64_t> keys() const { return rows_.keys(); }
    /// The sums, as rows 0, 1, 2...
    row_list list() {
        const std::int64_t end = std::int64_t{rows_.size()} * width_;
        std::fill(values_.data() + end, values_.data() + base::round_up(end, 16), 0.f);
        keys_[0] = rows_.size();
        return {keys_.data(), values_.data(), width_};
    }

private:
    parameter_servers::row_index rows_;
    runtime::arena values_;
    std::vector<std::int32_t> keys_;   ///< 0, 1, 2... behind their number
    int width_;
};

}   // namespace sinter::inline SINTER_TARGET::strategy_parts
