// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/callback.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::session_parts {

/// Rows of a table of 64-bit keys that a file held, in a process that has no servers (the
/// evaluator), or not yet. Where the file lasts they are read from there when they are asked for.
class loaded_rows {
public:
    using row_function = base::callback<void(std::size_t, std::int64_t&, std::int64_t&, float*)>;
    /// f(i, key, step, row) says what number i is, as server_link::put_rows; where row is null it
    /// says only the key and the step. `lasts`: also later, until forget().
    SINTER_APART void put(int width, int slots, std::size_t n, const row_function& f, bool lasts);
    void forget() { *this = {}; }
    explicit operator bool() const { return here_; }
    int slots() const { return slots_; }
    std::size_t size() const { return n_; }
    /// As put() was given.
    SINTER_APART void get(std::size_t i, std::int64_t& key, std::int64_t& step, float* row) const;
    /// The row's values, until the next call; null: it is not among them.
    SINTER_APART const float* find(std::int64_t key);
    /// f(key, step, row) in the order of the keys.
    template <class F>
    void each(F f) {
        if (place_.empty()) sort_keys();
        std::vector<float> row(width_);
        for (const auto& [key, i] : place_) {
            std::int64_t same = 0, step = 0;
            get(i, same, step, row.data());
            f(key, step, row.data());
        }
    }

private:
    row_function from_;   ///< a file; none: what follows
    std::vector<std::int64_t> keys_, steps_;
    std::vector<float> values_, row_;   ///< of each row, its slots behind it; of one that was found
    std::vector<std::pair<std::int64_t, std::size_t>> place_;   ///< keys in their order, once one was to be found
    std::size_t width_ = 0, n_ = 0;
    int slots_ = 0;
    bool here_ = false;

    SINTER_APART void sort_keys();
};

}   // namespace sinter::inline SINTER_ORDINARY::session_parts

#if SINTER_BODIES
#include <algorithm>

namespace sinter::inline SINTER_ORDINARY::session_parts {
SINTER_APART void loaded_rows::put(int width, int slots, std::size_t n, const row_function& f, bool lasts) {
    *this = {};
    width_ = static_cast<std::size_t>(width) * static_cast<std::size_t>(1 + slots);
    slots_ = slots, n_ = n, here_ = true;
    if (lasts) {
        row_.resize(width_);
        from_ = f;
        return;
    }
    keys_.resize(n), steps_.resize(n), values_.resize(n * width_);
    for (std::size_t i = 0; i < n; ++i) f(i, keys_[i], steps_[i], values_.data() + i * width_);
}

SINTER_APART void loaded_rows::get(std::size_t i, std::int64_t& key, std::int64_t& step, float* row) const {
    if (from_) return from_(i, key, step, row);
    key = keys_[i], step = steps_[i];
    std::copy_n(values_.data() + i * width_, width_, row);
}

SINTER_APART const float* loaded_rows::find(std::int64_t key) {
    if (place_.empty()) sort_keys();
    const auto at = std::lower_bound(place_.begin(), place_.end(), std::pair(key, std::size_t{0}));
    if (at == place_.end() || at->first != key) return nullptr;
    if (!from_) return values_.data() + at->second * width_;
    std::int64_t step = 0;
    from_(at->second, key, step, row_.data());
    return row_.data();
}

SINTER_APART void loaded_rows::sort_keys() {
    std::vector<std::pair<std::int64_t, std::size_t>> place(n_);   // none of it where the file cannot be read
    for (std::size_t i = 0; i < n_; ++i) {
        std::int64_t step = 0;
        place[i].second = i;
        if (from_) from_(i, place[i].first, step, nullptr);
        else place[i].first = keys_[i];
    }
    std::sort(place.begin(), place.end());
    place_ = std::move(place);
}
} // namespace sinter::inline SINTER_ORDINARY::session_parts
#endif
