// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>
#include <unordered_map>
#include <vector>

namespace sinter::inline SINTER_TARGET::detail {

/// Rows of a table of 64-bit keys that a file held, in a process that has no servers (the evaluator), or not yet.
class loaded_rows {
public:
    /// f(i, key, step, row) says what number i is, as server_link::put_rows.
    template <class F>
    void put(int width, int slots, std::size_t n, F f) {
        width_ = static_cast<std::size_t>(width) * static_cast<std::size_t>(1 + slots);
        slots_ = slots, here_ = true;
        place_.clear();
        keys_.resize(n), steps_.resize(n), values_.resize(n * width_);
        for (std::size_t i = 0; i < n; ++i) {
            f(i, keys_[i], steps_[i], values_.data() + i * width_);
            place_.emplace(keys_[i], i);
        }
    }
    void forget() { *this = {}; }
    explicit operator bool() const { return here_; }
    int slots() const { return slots_; }
    std::size_t size() const { return keys_.size(); }
    /// As put() was told.
    void get(std::size_t i, std::int64_t& key, std::int64_t& step, float* row) const {
        key = keys_[i], step = steps_[i];
        std::copy_n(values_.data() + i * width_, width_, row);
    }
    /// The row's values; null: it is not among them.
    const float* find(std::int64_t key) const {
        const auto at = place_.find(key);
        return at == place_.end() ? nullptr : values_.data() + at->second * width_;
    }
    /// f(key, step, row) in the order of the keys.
    template <class F>
    void each(F f) const {
        std::vector<std::size_t> order(size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys_[a] < keys_[b]; });
        for (const std::size_t i : order) f(keys_[i], steps_[i], values_.data() + i * width_);
    }

private:
    std::vector<std::int64_t> keys_, steps_;
    std::vector<float> values_;   ///< of each row, its slots behind it
    std::unordered_map<std::int64_t, std::size_t> place_;
    std::size_t width_ = 0;
    int slots_ = 0;
    bool here_ = false;
};

}   // namespace sinter::inline SINTER_TARGET::detail
