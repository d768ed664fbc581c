// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstring>

#include <sinter/kernel/cpu/vector/simd.hpp>

/// Small integers in memory as bytes, in registers as a vector: the winners of a max-pool.
namespace sinter::inline SINTER_TARGET::cpu {

/// The first N <= 8 bytes at p as an integer. Put together in registers: a vector written to memory
/// in pieces could not be loaded as a whole for a while.
template <int N>
SINTER_INLINE std::uint64_t load_word(const std::uint8_t* p) {
    std::uint64_t w = 0;
    if constexpr (N == 8) {
        std::memcpy(&w, p, 8);
    } else if constexpr (N > 0) {
        constexpr int size = N & 4 ? 4 : N & 2 ? 2 : 1;
        std::uint32_t part = 0;
        std::memcpy(&part, p, size);
        w = part | load_word<N - size>(p + size) << 8 * size;
    }
    return w;
}
template <int N>
SINTER_INLINE void store_word(std::uint8_t* p, std::uint64_t w) {
    if constexpr (N == 8) {
        std::memcpy(p, &w, 8);
    } else if constexpr (N > 0) {
        constexpr int size = N & 4 ? 4 : N & 2 ? 2 : 1;
        std::memcpy(p, &w, size);
        store_word<N - size>(p + size, w >> 8 * size);
    }
}

// g++ 12 turns __builtin_convertvector between these widths into scalar code, so x86 says it in
// instructions.
#if defined(__AVX512F__)
SINTER_INLINE vi widen(std::uint64_t low, std::uint64_t high) {
    return (vi)_mm512_maskz_cvtepu8_epi32(0xffff,
                                          _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low)));
}
SINTER_INLINE void narrow(vi v, std::uint64_t& low, std::uint64_t& high) {
    const __m128i b = _mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)v);
    low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(b));
    high = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(b, b)));
}
#elif defined(__AVX2__) && defined(__x86_64__)
SINTER_INLINE vi widen(std::uint64_t w, std::uint64_t) {
    return (vi)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(w)));
}
SINTER_INLINE void narrow(vi v, std::uint64_t& w, std::uint64_t&) {
    const __m256i i = (__m256i)v;
    const __m128i h = _mm_packs_epi32(__builtin_shufflevector(i, i, 0, 1), __builtin_shufflevector(i, i, 2, 3));
    w = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(h, h)));
}
#elif defined(__SSE2__) && !defined(__AVX__)
SINTER_INLINE vi widen(std::uint64_t w, std::uint64_t) {
    const __m128i z = _mm_setzero_si128(), b = _mm_cvtsi32_si128(static_cast<int>(w));
    return (vi)_mm_unpacklo_epi16(_mm_unpacklo_epi8(b, z), z);
}
SINTER_INLINE void narrow(vi v, std::uint64_t& w, std::uint64_t&) {
    const __m128i h = _mm_packs_epi32((__m128i)v, (__m128i)v);
    w = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_packus_epi16(h, h)));
}
#else
SINTER_INLINE vi widen(std::uint64_t w, std::uint64_t) {
    vi v;
    for (int i = 0; i < lanes; ++i) v[i] = static_cast<std::int32_t>(w >> 8 * i & 255);
    return v;
}
SINTER_INLINE void narrow(vi v, std::uint64_t& w, std::uint64_t&) {
    w = 0;
    for (int i = 0; i < lanes; ++i) w |= static_cast<std::uint64_t>(v[i]) << 8 * i;
}
#endif

/// N bytes as a vector of integers; lanes from N on are zero.
template <int N = lanes>
SINTER_INLINE vi load_bytes(const std::uint8_t* p) {
    return widen(load_word<(N < 8 ? N : 8)>(p), load_word<(N > 8 ? N - 8 : 0)>(p + 8));
}
/// The first N lanes, each of them below 256, as bytes.
template <int N = lanes>
SINTER_INLINE void store_bytes(std::uint8_t* p, vi v) {
    std::uint64_t low, high = 0;
    narrow(v, low, high);
    store_word<(N < 8 ? N : 8)>(p, low);
    store_word<(N > 8 ? N - 8 : 0)>(p + 8, high);
}

} // namespace sinter::cpu
