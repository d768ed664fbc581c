// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <utility>
#include <sinter/kernel/cpu/vector/transpose.hpp>

/// Random bits for a vector of indices: base/philox.hpp, lane by lane.
namespace sinter::inline SINTER_TARGET::cpu {

typedef std::uint64_t vu64 __attribute__((vector_size(4 * lanes)));

/// The 64-bit products of m and the lower halves of a: the only multiplication that wide which
/// processors have.
SINTER_INLINE vu64 multiply_low(vu64 a, std::uint32_t m) {
#if defined(__AVX512F__)
    return (vu64)_mm512_maskz_mul_epu32(0xff, (__m512i)a, _mm512_set1_epi32(static_cast<int>(m)));
#elif defined(__AVX2__)
    return (vu64)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi32(static_cast<int>(m)));
#elif defined(__SSE2__) && !defined(__AVX__)
    return (vu64)_mm_mul_epu32((__m128i)a, (__m128i)(vu{} + m));
#else
    return (a & 0xffffffffu) * std::uint64_t{m};
#endif
}

/// Counters of every other lane. Only the lower half of each 64 bits counts: a product's is used
/// where it lies, its upper half shifted down, and what else stands above is never asked for.
struct half_counters {
    vu64 word[4];

    /// Those of the blocks high:low.
    SINTER_INLINE half_counters(vu64 low, vu64 high, std::uint64_t counter_hi)
        : word{low, high, vu64{} + (counter_hi & 0xffffffffu), vu64{} + (counter_hi >> 32)} {}

    SINTER_INLINE void round(std::uint32_t k0, std::uint32_t k1) {
        const vu64 a = multiply_low(word[0], 0xD2511F53u), b = multiply_low(word[2], 0xCD9E8D57u);
        word[0] = (b >> 32) ^ (word[1] ^ std::uint64_t{k0});
        word[1] = b;
        word[2] = (a >> 32) ^ (word[3] ^ std::uint64_t{k1});
        word[3] = a;
    }
};

/// Ten rounds of these.
template <class... Counters>
SINTER_INLINE void philox_rounds(std::uint64_t key, Counters&... counters) {
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        (counters.round(k0, k1), ...);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}
/// The lower halves of a and b side by side.
SINTER_INLINE vu join_halves(vu64 a, vu64 b) { return (vu)((a & 0xffffffffu) | (b << 32)); }

/// Each lane's block, whose number is high:low, of the stream: word[k] has its word k,
/// philox_at(key, number, counter_hi).word[k].
SINTER_INLINE void philox_blocks(std::uint64_t key, std::uint64_t counter_hi, vu low, vu high, vu (&word)[4]) {
    half_counters even((vu64)low, (vu64)high, counter_hi), odd((vu64)low >> 32, (vu64)high >> 32, counter_hi);
    philox_rounds(key, even, odd);
    for (int k = 0; k < 4; ++k) word[k] = join_halves(even.word[k], odd.word[k]);
}
/// Each lane's word, whose number is high:low, of the stream: philox_word(key, number, counter_hi).
SINTER_INLINE vu philox_words(std::uint64_t key, std::uint64_t counter_hi, vu low, vu high) {
    vu word[4];
    philox_blocks(key, counter_hi, low >> 2 | high << 30, high >> 2, word);
    const vi second = (vi)((low & 1u) != 0u), upper = (vi)((low & 2u) != 0u);
    return upper ? (second ? word[3] : word[2]) : (second ? word[1] : word[0]);
}
/// Words first + l * step in lanes l; all of them lie within 2^32.
SINTER_INLINE vu philox_words(std::uint64_t key, std::uint64_t counter_hi, std::uint64_t first, std::uint32_t step) {
    const vu further = (vu)lane_numbers() * step, low = static_cast<std::uint32_t>(first) + further;
    return philox_words(key, counter_hi, low, static_cast<std::uint32_t>(first >> 32) - (vu)(low < further));
}

/// Uniform in [0, 1), as base/philox.hpp makes it of a word.
SINTER_INLINE vf uniform(vu words) { return __builtin_convertvector((vi)(words >> 8), vf) * splat(0x1p-24f); }

/// Blocks of which a vector holds a half each, as words one after the other: quads of lo and hi
/// alternate.
template <int High>
struct natural_quads {
    static constexpr int lane(int l) {
        const int quad = l / 4 + (High ? lanes / 4 : 0);
        return quad % 2 * lanes + quad / 2 * 4 + l % 4;
    }
};
/// Two vectors' worth of words, one behind the other.
struct word_pair {
    vu front, back;
};
/// Those of `lanes` / 2 blocks of the stream, from this one on.
SINTER_INLINE word_pair words_of_blocks(std::uint64_t key, std::uint64_t counter_hi, std::uint64_t first) {
    const vu64 block = counted<vu64>(std::make_integer_sequence<int, lanes / 2>{}) + first;
    half_counters some(block, block >> 32, counter_hi);
    philox_rounds(key, some);
    const vf front = (vf)join_halves(some.word[0], some.word[1]), back = (vf)join_halves(some.word[2], some.word[3]);
    const vf even = shuffle<zip_quads<2, 0>>(front, back), odd = shuffle<zip_quads<2, 1>>(front, back);
    return {(vu)shuffle<natural_quads<0>>(even, odd), (vu)shuffle<natural_quads<1>>(even, odd)};
}
/// Words first, first + 1, ... of the stream, from half as many counters as lanes, for each has
/// four.
SINTER_INLINE vu philox_words(std::uint64_t key, std::uint64_t counter_hi, std::uint64_t first) {
    const word_pair some = words_of_blocks(key, counter_hi, first / 4);
    if (first % 4 == 0) return some.front;
    alignas(64) float all[2 * lanes];
    store(all, (vf)some.front);
    store(all + lanes, (vf)some.back);
    return (vu)load(all + first % 4);
}
/// And as many again: in the time of one, where a block begins with the first of them.
SINTER_INLINE word_pair philox_word_pair(std::uint64_t key, std::uint64_t counter_hi, std::uint64_t first) {
    if (first % 4 == 0) return words_of_blocks(key, counter_hi, first / 4);
    return {philox_words(key, counter_hi, first), philox_words(key, counter_hi, first + lanes)};
}

} // namespace sinter::cpu
