// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/lazy_array.hpp>
#include <sinter/parameter_server/row_index.hpp>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The row of each key, in a hash table with linear probing that grows with the rows: what a lookup
/// costs depends on how many there are, not on how many there may be. Who calls keeps `keys`, the
/// key of each row.
class key_places {
public:
    std::int32_t find(std::int64_t key, const std::int64_t* keys) const { return slots_[slot_of(key, keys)] - 1; }
    void prefetch(std::int64_t key) const { __builtin_prefetch(slots_.data() + (mixed(key) & (slots_.size() - 1))); }
    /// The key, of row `row`, is new; so many rows there are with it.
    void insert(std::int64_t key, std::int32_t row, const std::int64_t* keys, std::int64_t rows) {
        if (2 * static_cast<std::size_t>(rows) > slots_.size()) grow(keys);
        slots_[slot_of(key, keys)] = row + 1;
    }
    /// The row of this key gets another number.
    void move(std::int64_t key, std::int32_t row, const std::int64_t* keys) { slots_[slot_of(key, keys)] = row + 1; }
    void erase(std::int64_t key, const std::int64_t* keys) {
        std::size_t hole = slot_of(key, keys);
        slots_[hole] = 0;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = (hole + 1) & mask; slots_[i]; i = (i + 1) & mask) {   // whoever probed past it moves up
            const std::size_t home = mixed(keys[slots_[i] - 1]) & mask;
            if (((i - home) & mask) < ((i - hole) & mask)) continue;
            slots_[hole] = slots_[i];
            slots_[i] = 0;
            hole = i;
        }
    }

private:
    std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(16);   ///< the row's number + 1; 0: none

    /// Where the key is, or would be.
    std::size_t slot_of(std::int64_t key, const std::int64_t* keys) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = mixed(key) & mask;
        while (slots_[i] && keys[slots_[i] - 1] != key) i = (i + 1) & mask;
        return i;
    }
    __attribute__((noinline)) void grow(const std::int64_t* keys) {
        std::vector<std::int32_t> old(2 * slots_.size());
        old.swap(slots_);
        for (const std::int32_t r : old)
            if (r) slots_[slot_of(keys[r - 1], keys)] = r;
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

} // namespace sinter::parameter_servers
