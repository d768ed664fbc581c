// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>

/// Counter-based random numbers: a block of four words is a pure function of (key, counter), so
/// that any number can be had at any time, in any order, on any thread and device, and is always
/// the same. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
/// 2011.
namespace sinter::base {

/// Four words that are drawn at once.
struct philox_block {
    std::uint32_t word[4];
    constexpr bool operator==(const philox_block&) const = default;
};

/// Philox4x32-10: four uniform 32-bit words for one counter under one key (low word first).
constexpr philox_block philox4x32(philox_block counter, std::uint64_t key) {
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.word[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.word[2];
        counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ k0, static_cast<std::uint32_t>(b),
                    static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ k1, static_cast<std::uint32_t>(a)}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return counter;
}

/// The block number `index` of step (epoch, pass) `step` under `key`.
constexpr philox_block philox_at(std::uint64_t key, std::uint64_t index, std::uint64_t step = 0) {
    return philox4x32({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                        static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)}}, key);
}

/// Word number `index` of a stream, of which a block has four: what random_stream gives after as
/// many others.
constexpr std::uint32_t philox_word(std::uint64_t key, std::uint64_t index, std::uint64_t step = 0) {
    const philox_block b = philox_at(key, index / 4, step);   // chosen, not indexed: a GPU's registers have no indices
    const std::uint32_t low = index % 2 ? b.word[1] : b.word[0], high = index % 2 ? b.word[3] : b.word[2];
    return index % 4 < 2 ? low : high;
}

/// The key of an independent stream for the thing named (see fnv1a) in a run with this seed. Seeds
/// and names pass through the generator itself, so that neighbouring seeds share nothing.
constexpr std::uint64_t stream(std::uint64_t seed, std::uint64_t name_hash) {
    const philox_block b = philox_at(seed, name_hash);
    return (std::uint64_t{b.word[1]} << 32) | b.word[0];
}

/// The key of the random numbers that shard `shard` of a global batch draws. Shard 0's is the seed
/// itself, as where the batch is not divided; other shards' are independent streams. Not inlined:
/// each program would have its rounds.
__attribute__((noinline)) constexpr std::uint64_t shard_key(std::uint64_t seed, std::uint64_t shard) {
    return shard == 0 ? seed : stream(stream(seed, 0x7368617264 /* "shard" */), shard);
}

/// Uniform in [0, 1): the word's upper 24 bits, all of which a float holds exactly.
constexpr float uniform(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

/// Two independent standard normal numbers from two words (Box, Muller 1958). Beyond 5.8 nothing is
/// ever drawn.
struct normal_pair { float first, second; };
inline normal_pair normal(std::uint32_t a, std::uint32_t b) {
    const float positive = 1.0f - uniform(a);   // in (0, 1]: the logarithm stays finite
    const float radius = __builtin_sqrtf(-2.0f * __builtin_logf(positive));
    const float angle = 6.28318530717958648f * uniform(b);
    return {radius * __builtin_cosf(angle), radius * __builtin_sinf(angle)};
}

/// The words of one stream in order, for code that draws as many as it needs (shuffling,
/// augmentation).
class random_stream {
public:
    constexpr explicit random_stream(std::uint64_t key, std::uint64_t step = 0) : key_(key), step_(step) {}

    constexpr std::uint32_t word() {
        if (used_ == 4) refill();
        return block_.word[used_++];
    }
    constexpr float uniform() { return sinter::base::uniform(word()); }
    // Inlined: where it may be fused, product and sum round otherwise than elsewhere, and base/ is the
    // same for all targets. So each file has it in functions of its own target.
    __attribute__((always_inline)) constexpr float uniform(float low, float high) {
        return low + (high - low) * uniform();
    }
    float normal() {
        const std::uint32_t a = word(), b = word();   // in this order, whatever the compiler's order of arguments
        return sinter::base::normal(a, b).first;
    }
    /// Uniform in [0, n), n > 0, without bias. Source: Lemire, "Fast random integer generation in
    /// an interval", 2019.
    constexpr std::uint32_t below(std::uint32_t n) {
        std::uint64_t product = std::uint64_t{word()} * n;
        if (static_cast<std::uint32_t>(product) < n) {
            const std::uint32_t threshold = (0u - n) % n;   // 2^32 mod n: so many words are one too many
            while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{word()} * n;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

private:
    // Not inlined: each place that draws a word would have its rounds.
    __attribute__((noinline)) constexpr void refill() {
        block_ = philox_at(key_, index_++, step_);
        used_ = 0;
    }

    std::uint64_t key_, step_, index_ = 0;
    philox_block block_{};
    int used_ = 4;
};

} // namespace sinter::base
namespace sinter {
using base::random_stream;
} // namespace sinter
