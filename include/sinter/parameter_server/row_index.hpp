// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// The bits of a key, mixed: neighbours have nothing in common. (The finalizer of SplitMix64:
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.)
constexpr std::uint64_t mixed(std::int64_t key) {
    std::uint64_t x = static_cast<std::uint64_t>(key) + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
/// Which of the servers has a hashed table's row of this key. Other bits than row_index looks at.
constexpr int server_of_key(std::int64_t key, int servers) {
    return static_cast<int>((mixed(key) >> 32) % static_cast<std::uint64_t>(servers));
}
/// A key travels through data as two whole numbers, the low half first.
constexpr std::int64_t key_of_words(std::int32_t low, std::int32_t high) {
    return static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(high)} << 32 |
                                     static_cast<std::uint32_t>(low));
}

/// The unique keys among those that it is shown, numbered in the order in which they are first
/// shown. Allocates nothing after its construction.
class row_index {
public:
    /// For at most so many unique keys at a time.
    explicit row_index(std::int64_t most) : keys_(static_cast<std::size_t>(most)) {
        std::size_t slots = 16;
        while (slots < 2 * keys_.size()) slots *= 2;
        slots_.resize(slots);
    }
    /// Forgets all. In constant time, but once in 2^32 calls.
    void clear() {
        n_ = 0;
        if (++round_ != 0) return;
        for (slot& s : slots_) s.round = 0;
        round_ = 1;
    }
    /// The number of this key, which it gets if it is new. More different ones than the most must
    /// not come.
    std::int32_t place_of(std::int64_t key) {
        std::size_t i = mixed(key) & (slots_.size() - 1);
        for (; slots_[i].round == round_; i = (i + 1) & (slots_.size() - 1))
            if (keys_[static_cast<std::size_t>(slots_[i].place)] == key) return slots_[i].place;
        slots_[i] = {round_, n_};
        keys_[static_cast<std::size_t>(n_)] = key;
        return n_++;
    }
    /// The number of this key, or -1.
    std::int32_t find(std::int64_t key) const {
        std::size_t i = mixed(key) & (slots_.size() - 1);
        for (; slots_[i].round == round_; i = (i + 1) & (slots_.size() - 1))
            if (keys_[static_cast<std::size_t>(slots_[i].place)] == key) return slots_[i].place;
        return -1;
    }
    std::int32_t size() const { return n_; }
    span<const std::int64_t> keys() const { return {keys_.data(), static_cast<std::size_t>(n_)}; }

private:
    struct slot {
        std::uint32_t round = 0;   ///< in which it was filled; another: it is empty
        std::int32_t place = 0;
    };
    std::vector<std::int64_t> keys_;
    std::vector<slot> slots_;
    std::uint32_t round_ = 1;
    std::int32_t n_ = 0;
};

} // namespace sinter::parameter_servers
