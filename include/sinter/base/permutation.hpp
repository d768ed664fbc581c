// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Orders of the numbers 0 to n - 1 for a key and a pass: one that is computed number by number, in constant memory,
/// and one that is stored.
namespace sinter::base {

/// A permutation of [0, n) that takes no memory: a Feistel network over the smallest power of two that is at least n;
/// what falls outside of [0, n) is put through it again until it does not ("cycle walking": Black and Rogaway, Ciphers
/// with Arbitrary Finite Domains, CT-RSA 2002). The two halves' bits differ by one at most and are changed in turns, so
/// that fewer than two walks a number are needed on average.
///
/// How many rounds it takes to look random: Mitchell, Stokes, Frank, Holmes, Bandwidth-Optimal Random Shuffling for
/// GPUs, arXiv 2106.06161. With 4 the differences between neighbours are visibly not those of a random order of 1000
/// numbers, with 8 they are. Of fewer than some dozens of numbers not all orders are equally likely for any number of
/// rounds that is worth its time: those are stored.
template <int Rounds>
class permutation_of_rounds {
    static_assert(Rounds > 0 && Rounds % 2 == 0, "each half is changed as often as the other");

public:
    /// 1 <= n < 2^62.
    constexpr permutation_of_rounds(std::int64_t n, std::uint64_t key, std::int64_t pass)
        : n_(static_cast<std::uint64_t>(n)) {
        const int bits = n <= 4 ? 2 : static_cast<int>(std::bit_width(n_ - 1));
        low_bits_ = bits / 2;
        low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
        high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
        random_stream random(key, static_cast<std::uint64_t>(pass));
        for (std::uint64_t& k : keys_) {
            const std::uint64_t high = random.word();
            k = high << 32 | random.word();
        }
    }
    constexpr std::int64_t size() const { return static_cast<std::int64_t>(n_); }
    /// The number at place `i` of the order.
    constexpr std::int64_t operator()(std::int64_t i) const {
        auto x = static_cast<std::uint64_t>(i);
        do x = once(x);
        while (x >= n_);
        return static_cast<std::int64_t>(x);
    }
    /// The same of `count` places from `first` on: several at a time, without waiting for one another.
    constexpr void operator()(std::int64_t first, int count, std::int64_t* to) const {
        for (int i = 0; i < count; ++i) to[i] = static_cast<std::int64_t>(once(static_cast<std::uint64_t>(first + i)));
        for (int i = 0; i < count; ++i)
            if (to[i] >= size()) to[i] = (*this)(to[i]);
    }

private:
    /// 32 bits that each depend on all bits of `half` and `key`: the first steps of MurmurHash3's finaliser (Appleby).
    static constexpr std::uint64_t mixed(std::uint64_t half, std::uint64_t key) {
        std::uint64_t x = (half ^ key) * 0xff51afd7ed558ccd;
        x ^= x >> 33;
        return (x * 0xc4ceb9fe1a85ec53) >> 32;
    }
    constexpr std::uint64_t once(std::uint64_t x) const {
        std::uint64_t high = x >> low_bits_, low = x & low_mask_;
        for (int r = 0; r < Rounds; r += 2) {
            high ^= mixed(low, keys_[r]) & high_mask_;
            low ^= mixed(high, keys_[r + 1]) & low_mask_;
        }
        return high << low_bits_ | low;
    }

    std::uint64_t n_, low_mask_ = 0, high_mask_ = 0, keys_[static_cast<std::size_t>(Rounds)] = {};
    int low_bits_ = 0;
};
using computed_permutation = permutation_of_rounds<8>;

/// A random order of the numbers 0 to n - 1, each as likely as any other (Fisher and Yates, in the form of Knuth's
/// algorithm P that fills the list as it goes).
inline std::vector<std::uint32_t> stored_permutation(std::uint32_t n, std::uint64_t key, std::int64_t pass) {
    std::vector<std::uint32_t> order(n);
    random_stream random(key, static_cast<std::uint64_t>(pass));
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t j = random.below(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

} // namespace sinter::base
