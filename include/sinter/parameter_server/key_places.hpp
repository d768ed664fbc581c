// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/lazy_array.hpp>
#include <sinter/parameter_server/row_index.hpp>

namespace sinter::inline SINTER_TARGET::sharded {

/// The row of each key: an entry for every key where these are 0 to rows - 1, else a hash table with
/// linear probing. Who calls keeps `keys`, the key of each row.
class key_places {
public:
    /// `rows`: 0: keys are any numbers, of which at most `most` have rows at a time.
    key_places(std::int64_t rows, std::int64_t most) : direct_(rows > 0) {
        std::size_t n = static_cast<std::size_t>(rows);
        if (!direct_)
            for (n = 16; n < 2 * static_cast<std::size_t>(most);) n *= 2;
        slots_ = lazy_array<std::int32_t>(n);
    }
    std::int32_t find(std::int64_t key, const std::int64_t* keys) const { return slots_[slot_of(key, keys)] - 1; }
    void insert(std::int64_t key, std::int32_t row, const std::int64_t* keys) { slots_[slot_of(key, keys)] = row + 1; }
    /// The row of this key gets another number.
    void move(std::int64_t key, std::int32_t row, const std::int64_t* keys) { insert(key, row, keys); }
    void erase(std::int64_t key, const std::int64_t* keys) {
        std::int64_t hole = slot_of(key, keys);
        slots_[hole] = 0;
        if (direct_) return;
        const std::int64_t mask = last_slot();
        for (std::int64_t i = (hole + 1) & mask; slots_[i]; i = (i + 1) & mask) {   // whoever probed past it moves up
            const std::int64_t home = home_of(keys[slots_[i] - 1]);
            if (((i - home) & mask) < ((i - hole) & mask)) continue;
            slots_[hole] = slots_[i];
            slots_[i] = 0;
            hole = i;
        }
    }

private:
    bool direct_;
    lazy_array<std::int32_t> slots_;   ///< the row's number + 1; 0: none

    std::int64_t last_slot() const { return static_cast<std::int64_t>(slots_.size()) - 1; }
    std::int64_t home_of(std::int64_t key) const { return static_cast<std::int64_t>(mixed(key)) & last_slot(); }
    /// Where the key is, or would be.
    std::int64_t slot_of(std::int64_t key, const std::int64_t* keys) const {
        if (direct_) return key;
        std::int64_t i = home_of(key);
        while (slots_[i] && keys[slots_[i] - 1] != key) i = (i + 1) & last_slot();
        return i;
    }
};

/// Rows from the newest to the oldest, as a doubly linked list.
class age_list {
public:
    explicit age_list(std::size_t most) : links_(most) {}
    std::int32_t newest() const { return newest_; }
    std::int32_t oldest() const { return oldest_; }
    std::int32_t older(std::int32_t r) const { return links_[r].older; }
    void append(std::int32_t r) { link(r, newest_, -1); }   ///< as the newest
    void clear() { newest_ = oldest_ = -1; }
    void link(std::int32_t r, std::int32_t older, std::int32_t newer) {
        links_[r] = {older, newer};
        (older >= 0 ? links_[older].newer : oldest_) = r;
        (newer >= 0 ? links_[newer].older : newest_) = r;
    }
    void unlink(std::int32_t r) {
        const entry e = links_[r];
        (e.older >= 0 ? links_[e.older].newer : oldest_) = e.newer;
        (e.newer >= 0 ? links_[e.newer].older : newest_) = e.older;
    }
    /// What was row `from` is row `to`.
    void move(std::int32_t from, std::int32_t to) {
        const entry e = links_[from];
        link(to, e.older, e.newer);
    }

private:
    struct entry { std::int32_t older, newer; };
    lazy_array<entry> links_;
    std::int32_t newest_ = -1, oldest_ = -1;
};

} // namespace sinter::sharded
