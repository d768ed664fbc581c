// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/gemm/sparse/zeros.hpp>
#include <sinter/kernel/cpu/vector/transpose.hpp>
#include <sinter/kernel/cpu/vector/unroll.hpp>
#include <sinter/kernel/cpu/vector/vector_block.hpp>

/// Compressed lists of (offset, value): what is left of a vector whose exact zeros need no
/// arithmetic.
namespace sinter::inline SINTER_TARGET::cpu {

#if defined(__AVX2__) && defined(__BMI2__) && !defined(__AVX512F__)
/// Which bits of m < 256 are set: their numbers, in bytes one behind the other.
SINTER_INLINE __m128i set_bits(unsigned m) {
    const std::uint64_t bytes = _pdep_u64(m, 0x0101010101010101u) * 255u;
    return _mm_cvtsi64_si128(static_cast<long long>(_pext_u64(0x0706050403020100u, bytes)));
}
#endif

/// Appends the lanes that `keep` marks, in their order. Up to `lanes` elements from the end on are
/// overwritten: the arrays need that much room. Returns the new length.
SINTER_INLINE int append(std::int32_t* offset, float* value, int n, vi o, vf v, lane_mask keep) {
#if defined(__AVX512F__)
    _mm512_storeu_si512(offset + n, _mm512_maskz_compress_epi32(keep, (__m512i)o));
    _mm512_storeu_ps(value + n, _mm512_maskz_compress_ps(keep, (__m512)v));
    return n + __builtin_popcount(keep);
#elif defined(__AVX2__) && defined(__BMI2__)
    const unsigned m = static_cast<unsigned>(_mm256_movemask_ps((__m256)keep));
    const __m256i order = _mm256_cvtepu8_epi32(set_bits(m));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(offset + n), _mm256_permutevar8x32_epi32((__m256i)o, order));
    _mm256_storeu_ps(value + n, _mm256_permutevar8x32_ps((__m256)v, order));
    return n + __builtin_popcount(m);
#else
    for (int i = 0; i < lanes; ++i) {
        offset[n] = o[i];
        value[n] = v[i];
        n -= keep[i];
    }
    return n;
#endif
}

/// The same with offsets of 16 bits, which lanes of `o` are small enough for.
SINTER_INLINE int append(std::uint16_t* offset, float* value, int n, vi o, vf v, lane_mask keep) {
#if defined(__AVX512F__)
    const __m256i halves = _mm512_maskz_cvtepi32_epi16(all_lanes, _mm512_maskz_compress_epi32(keep, (__m512i)o));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(offset + n), halves);
    _mm512_storeu_ps(value + n, _mm512_maskz_compress_ps(keep, (__m512)v));
    return n + __builtin_popcount(keep);
#else
    alignas(64) std::int32_t kept[lanes];
    const int end = append(kept, value + n, 0, o, v, keep);
    for (int i = 0; i < lanes; ++i) offset[n + i] = static_cast<std::uint16_t>(kept[i]);
    return n + end;
#endif
}

/// The same where offsets are `first` and on, `step` apart.
template <class Offset>
SINTER_INLINE int append_run(Offset* offset, float* value, int n, int first, int step, vf v, lane_mask keep) {
#if defined(__AVX2__) && defined(__BMI2__) && !defined(__AVX512F__)
    if constexpr (sizeof(Offset) == 2) {   // places are made as halves of words, there is nothing to narrow
        const unsigned m = static_cast<unsigned>(_mm256_movemask_ps((__m256)keep));
        const __m128i order = set_bits(m);
        typedef std::uint16_t halves __attribute__((vector_size(16)));
        const halves lane = (halves)_mm_unpacklo_epi8(order, _mm_setzero_si128());
        const halves at = lane * static_cast<std::uint16_t>(step) + static_cast<std::uint16_t>(first);
        __builtin_memcpy(offset + n, &at, sizeof at);
        _mm256_storeu_ps(value + n, _mm256_permutevar8x32_ps((__m256)v, _mm256_cvtepu8_epi32(order)));
        return n + __builtin_popcount(m);
    }
#endif
    vi o = {};
    for (int l = 0; l < lanes; ++l) o[l] = first + l * step;
    return append(offset, value, n, o, v, keep);
}

/// Stores the lanes of v whose bits are set, one behind the other, and anything behind them up to a
/// whole vector. Returns how many they are.
SINTER_INLINE int store_marked(float* to, vf v, unsigned bits) {
#if defined(__AVX512F__)
    store(to, (vf)_mm512_maskz_compress_ps(static_cast<__mmask16>(bits), (__m512)v));
#elif defined(__AVX2__) && defined(__BMI2__)
    store(to, (vf)_mm256_permutevar8x32_ps((__m256)v, _mm256_cvtepu8_epi32(set_bits(bits))));
#else
    for (int i = 0; i < lanes; ++i) {
        *to = v[i];
        to += bits >> i & 1;
    }
#endif
    return __builtin_popcount(bits);
}

/// Four floats, repeated: of a list of factors four are loaded at once, for a multiply-add that
/// reads a vector leaves no load to spare.
SINTER_INLINE vf load_four(const float* p) {
#if defined(__AVX512F__)
    return (vf)_mm512_maskz_broadcast_f32x4(all_lanes, _mm_loadu_ps(p));
#elif defined(__AVX__)
    return (vf)_mm256_broadcast_ps(reinterpret_cast<const __m128*>(p));
#else
    return load(p);
#endif
}
template <int I>
struct spread_lane {
    static constexpr int lane(int l) { return l / 4 * 4 + I; }
};
/// The I-th of the four, in all lanes.
template <int I>
SINTER_INLINE vf spread(vf four) {
    return shuffle<spread_lane<I>>(four, four);
}

/// The lowest n < 64 bits that are not set.
SINTER_INLINE std::uint64_t lowest_zeros(std::uint64_t mask, int n) {
#if defined(__BMI2__)
    return _pdep_u64(first_bits(n), ~mask);
#else
    std::uint64_t all = mask;
    while (n-- > 0) all |= all + 1;
    return all & ~mask;
#endif
}

/// `lanes` masks in the order in which they are gone over, AtOnce at once: two have about as many
/// bits, and the rarer as many as the other, taking in factors of its own that are zero. So one
/// loop does for both, whose end is guessed wrong once, and hardly an iteration is wasted. which:
/// the number of each mask.
template <int AtOnce>
SINTER_INLINE void pair_masks(const std::uint64_t* from, std::int64_t step, std::uint64_t* mask, std::int32_t* which) {
    if constexpr (AtOnce == 1) {
        for (int l = 0; l < lanes; ++l) {
            mask[l] = from[l * step];
            which[l] = l;
        }
    } else {
        alignas(64) std::int32_t keys[lanes],
            ranks[lanes];   // in memory, for a vector's lanes are not reached one by one
        for (int l = 0; l < lanes; ++l) keys[l] = __builtin_popcountll(from[l * step]) * lanes + l;
        vi all, rank{};
        __builtin_memcpy(&all, keys, sizeof all);
        for (int l = 0; l < lanes; ++l) rank -= splat(keys[l]) < all;
        __builtin_memcpy(ranks, &rank, sizeof rank);
        for (int l = 0; l < lanes; ++l) {
            mask[ranks[l]] = from[l * step];
            which[ranks[l]] = l;
        }
        for (int l = 0; l < lanes; l += 2)
            mask[l] |= lowest_zeros(mask[l], __builtin_popcountll(mask[l + 1]) - __builtin_popcountll(mask[l]));
    }
}

/// The factors whose bits are set, of 64, one behind the other.
SINTER_INLINE void list_marked(float* to, const float* x, std::uint64_t mask) {
    for (int i = 0; i < mask_bits; i += lanes)
        to += store_marked(to, load(x + i), static_cast<unsigned>(mask >> i & first_bits(lanes)));
}

/// f(u, bit, its factor in all lanes) for the bits of U masks in their order, which have equally
/// many; a mask's factors lie one behind the other, `step` behind those of the mask before. The
/// first mask is tested, so only one loop's end is guessed wrong.
template <std::size_t U, class F>
SINTER_INLINE void for_each_marked(std::uint64_t (&mask)[U], const float* factors, std::int64_t step, F f) {
    vf four[std::size_t{U}];
    const auto next = [&](auto i) SINTER_ALWAYS {
        unroll<U>([&](int u) SINTER_ALWAYS {
            const std::int64_t bit = __builtin_ctzll(mask[u]);
            mask[u] &= mask[u] - 1;
            f(u, bit, spread<i>(four[u]));
        });
        return mask[0] != 0;
    };
    if (mask[0])
        do {
            unroll<U>([&](int u) SINTER_ALWAYS { four[u] = load_four(factors + u * step); });
            factors += 4;
        } while (next(std::integral_constant<int, 0>{}) && next(std::integral_constant<int, 1>{}) &&
                 next(std::integral_constant<int, 2>{}) && next(std::integral_constant<int, 3>{}));
}

/// c[r][v] += value[e] * x[offset[e] + r * RowStep + v * Step] for the n elements of a list: every
/// multiply-add reads its vector from memory, so x should lie in the first-level cache.
template <int V, int RowStep, int Step, std::size_t N, int... I>
SINTER_INLINE void walk(vf (&c)[N], const std::int32_t* offset, const float* value, int n, const float* x,
                        std::integer_sequence<int, I...>) {
    for (int e = 0; e < n; ++e) {
        const vf a = splat(value[e]);
        const float* p = x + offset[e];
        ((c[I] = fma(a, load(p + I / V * RowStep + I % V * Step), c[I])), ...);
    }
}
template <int V, int RowStep, int Step, std::size_t N>
SINTER_INLINE void walk(vf (&c)[N], const std::int32_t* offset, const float* value, int n, const float* x) {
    walk<V, RowStep, Step>(c, offset, value, n, x, indices<N>{});
}

/// The same with offsets in `Unit` floats, a word of several at a time, and one word ahead:
/// multiply-adds whose address has just been loaded wait for more than that load (on Zen 5 they
/// take a fifth longer). The words behind the last one are there, too.
template <int V, int RowStep, int Step, int Unit, std::size_t N, class Offset>
SINTER_INLINE void walk_words(vf (&c)[N], const Offset* offset, const float* value, int n, const float* x) {
    constexpr int bits = 8 * sizeof(Offset), several = 64 / bits;
    const auto word_at = [](const Offset* p) SINTER_ALWAYS {
        std::uint64_t w;
        __builtin_memcpy(&w, p, sizeof w);
        asm("" : "+r"(w));
        return w;
    };
    std::uint64_t word, next = word_at(offset);
    const auto add = [&](int i) SINTER_ALWAYS {
        const vf a = splat(value[i]);
        const float* p = x + static_cast<std::int64_t>(word >> i * bits & first_bits(bits)) * Unit;
        unroll<N>([&](int k) SINTER_ALWAYS { c[k] = fma(a, load(p + k / V * RowStep + k % V * Step), c[k]); });
        return --n > 0;
    };
    if (n > 0)
        do {
            word = next;
            next = word_at(offset += several);
        } while ([&]<int... I>(std::integer_sequence<int, I...>)
                     SINTER_ALWAYS { return (add(I) && ...); }(indices<several>{}) &&
                 (value += several, true));
}

/// Accumulators of a walk: all registers but a few.
inline constexpr int walk_registers = registers >= 32 ? 24 : 12;

} // namespace sinter::cpu
