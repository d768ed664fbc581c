// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <immintrin.h>
#include <cstdint>
#include <cstring>

/// AVX-512's instructions as far as kernels use them, in terms of AVX2 and of loops over lanes.
/// Found before the library's header of this name, it has kernels take vectors of 512 bits and
/// their paths on processors without such: right, not fast.
#define __AVX512F__ 1

namespace sinter::inline SINTER_TARGET::cpu {

inline __m256 compare_not_less_or_equal(__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_NLE_UQ); }

typedef unsigned char __mmask8;
typedef unsigned short __mmask16;

namespace emulated {
typedef float floats __attribute__((vector_size(64)));
typedef std::int32_t ints __attribute__((vector_size(64)));
typedef std::uint32_t words __attribute__((vector_size(64)));
typedef std::uint64_t double_words __attribute__((vector_size(64)));

inline bool has(__mmask16 m, int lane) { return m >> lane & 1; }
/// -1 in the lanes whose bits are set.
inline ints lanes_of(__mmask16 m) {
    ints v{};
    for (int l = 0; l < 16; ++l) v[l] = -has(m, l);
    return v;
}
inline __mmask16 bits_of(ints v) {
    unsigned m = 0;
    for (int l = 0; l < 16; ++l) m |= (v[l] & 1u) << l;
    return static_cast<__mmask16>(m);
}
/// Zero in the other lanes.
template <class V>
V masked(__mmask16 m, V v) {
    return (V)((ints)v & lanes_of(m));
}
template <class V>
V compressed(__mmask16 m, V v) {
    V r{};
    for (int l = 0, to = 0; l < 16; ++l)
        if (has(m, l)) r[to++] = v[l];
    return r;
}
/// f of the lower and of the upper halves.
template <class F, class... V>
__m512 by_halves(F f, const V&... v) {
    __m256 half[2];
    for (int h = 0; h < 2; ++h) {
        const auto part = [h](const auto& whole) {
            __m256 p;
            std::memcpy(&p, reinterpret_cast<const char*>(&whole) + h * sizeof p, sizeof p);
            return p;
        };
        half[h] = f(part(v)...);
    }
    __m512 r;
    std::memcpy(&r, half, sizeof r);
    return r;
}
/// Each lane as an Element, in a vector R of such.
template <class R, class Element>
R narrowed(__mmask16 m, ints v) {
    Element to[16];
    for (int l = 0; l < 16; ++l) to[l] = static_cast<Element>(has(m, l) ? v[l] : 0);
    R r;
    static_assert(sizeof r == sizeof to);
    std::memcpy(&r, to, sizeof r);
    return r;
}
} // namespace emulated

inline void _mm512_storeu_ps(void* p, __m512 a) { std::memcpy(p, &a, sizeof a); }
inline void _mm512_storeu_si512(void* p, __m512i a) { std::memcpy(p, &a, sizeof a); }
inline void _mm512_stream_ps(float* p, __m512 a) {
    if (reinterpret_cast<std::uintptr_t>(p) % sizeof a) __builtin_trap();   // as the instruction does
    std::memcpy(p, &a, sizeof a);
}
// reads nothing behind the lanes that it is asked for
inline __m512 _mm512_maskz_loadu_ps(__mmask16 m, const void* p) {
    emulated::floats v{};
    for (int l = 0; l < 16; ++l)
        if (emulated::has(m, l)) v[l] = static_cast<const float*>(p)[l];
    return (__m512)v;
}
inline void _mm512_mask_storeu_ps(void* p, __mmask16 m, __m512 a) {
    for (int l = 0; l < 16; ++l)
        if (emulated::has(m, l)) static_cast<float*>(p)[l] = ((emulated::floats)a)[l];
}

inline __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) {
    return emulated::by_halves([](__m256 x, __m256 y, __m256 z) { return _mm256_fmadd_ps(x, y, z); }, a, b, c);
}
inline __m512 _mm512_maskz_max_ps(__mmask16 m, __m512 a, __m512 b) {
    return emulated::masked(m, emulated::by_halves([](__m256 x, __m256 y) { return _mm256_max_ps(x, y); }, a, b));
}
inline __m512 _mm512_maskz_min_ps(__mmask16 m, __m512 a, __m512 b) {
    return emulated::masked(m, emulated::by_halves([](__m256 x, __m256 y) { return _mm256_min_ps(x, y); }, a, b));
}
inline __m512 _mm512_maskz_sqrt_ps(__mmask16 m, __m512 a) {
    return emulated::masked(m, emulated::by_halves([](__m256 x) { return _mm256_sqrt_ps(x); }, a));
}
// Of eleven bits, not fourteen: what is made of them has to stand that, too.
inline __m512 _mm512_maskz_rcp14_ps(__mmask16 m, __m512 a) {
    return emulated::masked(m, emulated::by_halves([](__m256 x) { return _mm256_rcp_ps(x); }, a));
}
inline __m512 _mm512_maskz_rsqrt14_ps(__mmask16 m, __m512 a) {
    return emulated::masked(m, emulated::by_halves([](__m256 x) { return _mm256_rsqrt_ps(x); }, a));
}

inline __m512 _mm512_maskz_permutexvar_ps(__mmask16 m, __m512i which, __m512 a) {
    emulated::floats v{};
    for (int l = 0; l < 16; ++l) v[l] = ((emulated::floats)a)[((emulated::ints)which)[l] & 15];
    return (__m512)emulated::masked(m, v);
}
inline __m512 _mm512_maskz_broadcast_f32x4(__mmask16 m, __m128 a) {
    emulated::floats v{};
    for (int l = 0; l < 16; ++l) v[l] = a[l % 4];
    return (__m512)emulated::masked(m, v);
}
inline __m512i _mm512_maskz_compress_epi32(__mmask16 m, __m512i a) {
    return (__m512i)emulated::compressed(m, (emulated::ints)a);
}
inline __m512 _mm512_maskz_compress_ps(__mmask16 m, __m512 a) {
    return (__m512)emulated::compressed(m, (emulated::floats)a);
}
inline __m512 _mm512_mask_blend_ps(__mmask16 m, __m512 no, __m512 yes) {
    const emulated::ints taken = emulated::lanes_of(m);
    return (__m512)(((emulated::ints)yes & taken) | ((emulated::ints)no & ~taken));
}

inline __m512i _mm512_set1_epi32(int a) { return (__m512i)(emulated::ints{} + a); }
inline __m512i _mm512_maskz_mul_epu32(__mmask8 m, __m512i a, __m512i b) {
    constexpr std::uint64_t low = 0xffffffffu;
    emulated::double_words v = ((emulated::double_words)a & low) * ((emulated::double_words)b & low);
    for (int l = 0; l < 8; ++l)
        if (!emulated::has(m, l)) v[l] = 0;
    return (__m512i)v;
}
inline __m512i _mm512_maskz_cvtepu8_epi32(__mmask16 m, __m128i a) {
    std::uint8_t from[16];
    std::memcpy(from, &a, sizeof a);
    emulated::ints v{};
    for (int l = 0; l < 16; ++l) v[l] = from[l];
    return (__m512i)emulated::masked(m, v);
}
inline __m256i _mm512_maskz_cvtepi32_epi16(__mmask16 m, __m512i a) {
    return emulated::narrowed<__m256i, std::int16_t>(m, (emulated::ints)a);
}
inline __m128i _mm512_maskz_cvtepi32_epi8(__mmask16 m, __m512i a) {
    return emulated::narrowed<__m128i, std::int8_t>(m, (emulated::ints)a);
}

inline __mmask16 _mm512_test_epi32_mask(__m512i a, __m512i b) {
    return emulated::bits_of(((emulated::ints)a & (emulated::ints)b) != 0);
}
inline __mmask16 _mm512_cmpnle_ps_mask(__m512 a, __m512 b) {
    return emulated::bits_of(~((emulated::floats)a <= (emulated::floats)b));
}
inline __mmask16 _mm512_cmpneq_ps_mask(__m512 a, __m512 b) {
    return emulated::bits_of((emulated::floats)a != (emulated::floats)b);
}
inline __mmask16 _mm512_cmpeq_epi32_mask(__m512i a, __m512i b) {
    return emulated::bits_of((emulated::ints)a == (emulated::ints)b);
}
inline __mmask16 _mm512_cmpgt_epu32_mask(__m512i a, __m512i b) {
    return emulated::bits_of((emulated::words)a > (emulated::words)b);
}

} // namespace sinter::cpu

// No register holds such a vector: statements that keep one there are left out, and with them all
// that only guide a compiler.
#define asm(...)
