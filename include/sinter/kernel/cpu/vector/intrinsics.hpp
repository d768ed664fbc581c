// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>

/// The processor's instructions that the vector extension cannot say. <immintrin.h> declares six
/// thousand of them and costs g++ half of what a program may spend on all of Sinter's headers. So
/// the few that kernels use are declared here, under their usual names but inside sinter::cpu, for
/// the versions of g++ whose built-in functions have been checked.
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && __GNUC__ <= 14 && !defined(__clang__) && \
    !defined(__EDG__)

#define SINTER_INTRINSIC __attribute__((always_inline, artificial)) inline

namespace sinter::inline SINTER_TARGET::cpu {

typedef float __m128 __attribute__((vector_size(16), may_alias));
typedef long long __m128i __attribute__((vector_size(16), may_alias));
namespace lane_types {
typedef float f4 __attribute__((vector_size(16)));
typedef char b16 __attribute__((vector_size(16)));
typedef short s8 __attribute__((vector_size(16)));
typedef int i4 __attribute__((vector_size(16)));
typedef long long l2 __attribute__((vector_size(16)));
} // namespace lane_types

SINTER_INTRINSIC int _mm_movemask_ps(__m128 v) { return __builtin_ia32_movmskps(v); }
SINTER_INTRINSIC __m128 _mm_loadu_ps(const float* p) { __m128 v; __builtin_memcpy(&v, p, sizeof v); return v; }
SINTER_INTRINSIC __m128i _mm_setzero_si128() { return __m128i{}; }
SINTER_INTRINSIC __m128i _mm_set_epi64x(long long high, long long low) { return __m128i{low, high}; }
SINTER_INTRINSIC __m128i _mm_cvtsi64_si128(long long a) { return __m128i{a, 0}; }
SINTER_INTRINSIC __m128i _mm_cvtsi32_si128(int a) { return (__m128i)lane_types::i4{a, 0, 0, 0}; }
SINTER_INTRINSIC long long _mm_cvtsi128_si64(__m128i a) { return a[0]; }
SINTER_INTRINSIC int _mm_cvtsi128_si32(__m128i a) { return ((lane_types::i4)a)[0]; }
SINTER_INTRINSIC __m128i _mm_packs_epi32(__m128i a, __m128i b) {
    return (__m128i)__builtin_ia32_packssdw128((lane_types::i4)a, (lane_types::i4)b);
}
SINTER_INTRINSIC __m128i _mm_packus_epi16(__m128i a, __m128i b) {
    return (__m128i)__builtin_ia32_packuswb128((lane_types::s8)a, (lane_types::s8)b);
}
SINTER_INTRINSIC __m128i _mm_mul_epu32(__m128i a, __m128i b) {
    return (__m128i)__builtin_ia32_pmuludq128((lane_types::i4)a, (lane_types::i4)b);
}
SINTER_INTRINSIC __m128i _mm_unpacklo_epi8(__m128i a, __m128i b) {
    return (__m128i)__builtin_ia32_punpcklbw128((lane_types::b16)a, (lane_types::b16)b);
}
SINTER_INTRINSIC __m128i _mm_unpacklo_epi16(__m128i a, __m128i b) {
    return (__m128i)__builtin_ia32_punpcklwd128((lane_types::s8)a, (lane_types::s8)b);
}
SINTER_INTRINSIC __m128i _mm_unpackhi_epi64(__m128i a, __m128i b) {
    return (__m128i)__builtin_ia32_punpckhqdq128((lane_types::l2)a, (lane_types::l2)b);
}

#if defined(__AVX__)
typedef float __m256 __attribute__((vector_size(32), may_alias));
typedef long long __m256i __attribute__((vector_size(32), may_alias));
namespace lane_types {
typedef float f8 __attribute__((vector_size(32)));
typedef int i8 __attribute__((vector_size(32)));
} // namespace lane_types

SINTER_INTRINSIC __m256i _mm256_loadu_si256(const __m256i* p) {
    __m256i v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
SINTER_INTRINSIC void _mm256_storeu_si256(__m256i* p, __m256i a) { __builtin_memcpy(p, &a, sizeof a); }
SINTER_INTRINSIC void _mm256_storeu_ps(float* p, __m256 a) { __builtin_memcpy(p, &a, sizeof a); }
SINTER_INTRINSIC void _mm256_stream_ps(float* p, __m256 a) { __builtin_ia32_movntps256(p, (lane_types::f8)a); }
SINTER_INTRINSIC void _mm_sfence() { __builtin_ia32_sfence(); }
SINTER_INTRINSIC __m256 _mm256_maskload_ps(const float* p, __m256i m) {
    return (__m256)__builtin_ia32_maskloadps256(reinterpret_cast<const lane_types::f8*>(p), (lane_types::i8)m);
}
SINTER_INTRINSIC __m256 _mm256_max_ps(__m256 a, __m256 b) {
    return (__m256)__builtin_ia32_maxps256((lane_types::f8)a, (lane_types::f8)b);
}
SINTER_INTRINSIC __m256 _mm256_min_ps(__m256 a, __m256 b) {
    return (__m256)__builtin_ia32_minps256((lane_types::f8)a, (lane_types::f8)b);
}
SINTER_INTRINSIC __m256 _mm256_sqrt_ps(__m256 a) { return (__m256)__builtin_ia32_sqrtps256((lane_types::f8)a); }
SINTER_INTRINSIC __m256 _mm256_rcp_ps(__m256 a) { return (__m256)__builtin_ia32_rcpps256((lane_types::f8)a); }
SINTER_INTRINSIC __m256 _mm256_rsqrt_ps(__m256 a) { return (__m256)__builtin_ia32_rsqrtps256((lane_types::f8)a); }
SINTER_INTRINSIC __m256 _mm256_broadcast_ps(const __m128* p) {
    return (__m256)__builtin_ia32_vbroadcastf128_ps256(reinterpret_cast<const lane_types::f4*>(p));
}
SINTER_INTRINSIC __m256 _mm256_permutevar_ps(__m256 a, __m256i which) {
    return (__m256)__builtin_ia32_vpermilvarps256((lane_types::f8)a, (lane_types::i8)which);
}
SINTER_INTRINSIC int _mm256_movemask_ps(__m256 a) { return __builtin_ia32_movmskps256((lane_types::f8)a); }
SINTER_INTRINSIC __m256 compare_not_less_or_equal(__m256 a, __m256 b) {
    constexpr int not_less_or_equal = 6;
    return (__m256)__builtin_ia32_cmpps256((lane_types::f8)a, (lane_types::f8)b, not_less_or_equal);
}
#endif
#if defined(__FMA__)
SINTER_INTRINSIC __m256 _mm256_fmadd_ps(__m256 a, __m256 b, __m256 c) {
    return (__m256)__builtin_ia32_vfmaddps256((lane_types::f8)a, (lane_types::f8)b, (lane_types::f8)c);
}
#endif
#if defined(__AVX2__)
SINTER_INTRINSIC __m256i _mm256_set1_epi32(int a) { return (__m256i)lane_types::i8{a, a, a, a, a, a, a, a}; }
SINTER_INTRINSIC __m256i _mm256_mul_epu32(__m256i a, __m256i b) {
    return (__m256i)__builtin_ia32_pmuludq256((lane_types::i8)a, (lane_types::i8)b);
}
SINTER_INTRINSIC __m256i _mm256_cvtepu8_epi32(__m128i a) {
    return (__m256i)__builtin_ia32_pmovzxbd256((lane_types::b16)a);
}
SINTER_INTRINSIC __m256i _mm256_permutevar8x32_epi32(__m256i a, __m256i which) {
    return (__m256i)__builtin_ia32_permvarsi256((lane_types::i8)a, (lane_types::i8)which);
}
SINTER_INTRINSIC __m256 _mm256_permutevar8x32_ps(__m256 a, __m256i which) {
    return (__m256)__builtin_ia32_permvarsf256((lane_types::f8)a, (lane_types::i8)which);
}
#endif
#if defined(__BMI2__)
SINTER_INTRINSIC unsigned long long _pdep_u64(unsigned long long a, unsigned long long mask) {
    return __builtin_ia32_pdep_di(a, mask);
}
SINTER_INTRINSIC unsigned long long _pext_u64(unsigned long long a, unsigned long long mask) {
    return __builtin_ia32_pext_di(a, mask);
}
#endif

#if defined(__AVX512F__)
typedef float __m512 __attribute__((vector_size(64), may_alias));
typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef unsigned char __mmask8;
typedef unsigned short __mmask16;
namespace lane_types {
typedef float f16 __attribute__((vector_size(64)));
typedef int i16 __attribute__((vector_size(64)));
typedef short s16 __attribute__((vector_size(32)));
typedef long long l8 __attribute__((vector_size(64)));
inline constexpr int current_rounding = 4;
} // namespace lane_types

SINTER_INTRINSIC void _mm512_storeu_ps(void* p, __m512 a) { __builtin_memcpy(p, &a, sizeof a); }
SINTER_INTRINSIC void _mm512_storeu_si512(void* p, __m512i a) { __builtin_memcpy(p, &a, sizeof a); }
SINTER_INTRINSIC __m512 _mm512_maskz_loadu_ps(__mmask16 m, const void* p) {
    return (__m512)__builtin_ia32_loadups512_mask(static_cast<const float*>(p), lane_types::f16{}, m);
}
SINTER_INTRINSIC void _mm512_mask_storeu_ps(void* p, __mmask16 m, __m512 a) {
    __builtin_ia32_storeups512_mask(static_cast<float*>(p), (lane_types::f16)a, m);
}
SINTER_INTRINSIC void _mm512_stream_ps(float* p, __m512 a) { __builtin_ia32_movntps512(p, (lane_types::f16)a); }
SINTER_INTRINSIC __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) {
    return (__m512)__builtin_ia32_vfmaddps512_mask((lane_types::f16)a, (lane_types::f16)b, (lane_types::f16)c,
                                                   short{-1}, lane_types::current_rounding);
}
SINTER_INTRINSIC __m512 _mm512_maskz_max_ps(__mmask16 m, __m512 a, __m512 b) {
    return (__m512)__builtin_ia32_maxps512_mask((lane_types::f16)a, (lane_types::f16)b, lane_types::f16{},
                                                static_cast<short>(m), lane_types::current_rounding);
}
SINTER_INTRINSIC __m512 _mm512_maskz_min_ps(__mmask16 m, __m512 a, __m512 b) {
    return (__m512)__builtin_ia32_minps512_mask((lane_types::f16)a, (lane_types::f16)b, lane_types::f16{},
                                                static_cast<short>(m), lane_types::current_rounding);
}
SINTER_INTRINSIC __m512 _mm512_maskz_sqrt_ps(__mmask16 m, __m512 a) {
    return (__m512)__builtin_ia32_sqrtps512_mask((lane_types::f16)a, lane_types::f16{}, static_cast<short>(m),
                                                 lane_types::current_rounding);
}
SINTER_INTRINSIC __m512 _mm512_maskz_rcp14_ps(__mmask16 m, __m512 a) {
    return (__m512)__builtin_ia32_rcp14ps512_mask((lane_types::f16)a, lane_types::f16{}, m);
}
SINTER_INTRINSIC __m512 _mm512_maskz_rsqrt14_ps(__mmask16 m, __m512 a) {
    return (__m512)__builtin_ia32_rsqrt14ps512_mask((lane_types::f16)a, lane_types::f16{}, m);
}
SINTER_INTRINSIC __m512 _mm512_maskz_permutexvar_ps(__mmask16 m, __m512i which, __m512 a) {
    return (__m512)__builtin_ia32_permvarsf512_mask((lane_types::f16)a, (lane_types::i16)which, lane_types::f16{}, m);
}
SINTER_INTRINSIC __m512i _mm512_set1_epi32(int a) {
    return (__m512i)lane_types::i16{a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
}
SINTER_INTRINSIC __m512i _mm512_maskz_mul_epu32(__mmask8 m, __m512i a, __m512i b) {
    return (__m512i)__builtin_ia32_pmuludq512_mask((lane_types::i16)a, (lane_types::i16)b, lane_types::l8{}, m);
}
SINTER_INTRINSIC __m512i _mm512_maskz_cvtepu8_epi32(__mmask16 m, __m128i a) {
    return (__m512i)__builtin_ia32_pmovzxbd512_mask((lane_types::b16)a, lane_types::i16{}, m);
}
SINTER_INTRINSIC __m256i _mm512_maskz_cvtepi32_epi16(__mmask16 m, __m512i a) {
    return (__m256i)__builtin_ia32_pmovdw512_mask((lane_types::i16)a, lane_types::s16{}, m);
}
SINTER_INTRINSIC __m128i _mm512_maskz_cvtepi32_epi8(__mmask16 m, __m512i a) {
    return (__m128i)__builtin_ia32_pmovdb512_mask((lane_types::i16)a, lane_types::b16{}, m);
}
SINTER_INTRINSIC __mmask16 _mm512_test_epi32_mask(__m512i a, __m512i b) {
    return static_cast<__mmask16>(
        __builtin_ia32_ptestmd512((lane_types::i16)a, (lane_types::i16)b, static_cast<__mmask16>(-1)));
}
SINTER_INTRINSIC __mmask16 _mm512_cmpnle_ps_mask(__m512 a, __m512 b) {
    constexpr int not_less_or_equal = 6;
    return static_cast<__mmask16>(__builtin_ia32_cmpps512_mask((lane_types::f16)a, (lane_types::f16)b,
                                                               not_less_or_equal, static_cast<__mmask16>(-1),
                                                               lane_types::current_rounding));
}
SINTER_INTRINSIC __mmask16 _mm512_cmpneq_ps_mask(__m512 a, __m512 b) {
    constexpr int not_equal = 4;
    return static_cast<__mmask16>(__builtin_ia32_cmpps512_mask(
        (lane_types::f16)a, (lane_types::f16)b, not_equal, static_cast<__mmask16>(-1), lane_types::current_rounding));
}
SINTER_INTRINSIC __mmask16 _mm512_cmpeq_epi32_mask(__m512i a, __m512i b) {
    return static_cast<__mmask16>(
        __builtin_ia32_pcmpeqd512_mask((lane_types::i16)a, (lane_types::i16)b, static_cast<__mmask16>(-1)));
}
SINTER_INTRINSIC __mmask16 _mm512_cmpgt_epu32_mask(__m512i a, __m512i b) {
    constexpr int greater = 6;
    return static_cast<__mmask16>(__builtin_ia32_ucmpd512_mask((lane_types::i16)a, (lane_types::i16)b, greater,
                                                               static_cast<__mmask16>(-1)));
}
SINTER_INTRINSIC __m512 _mm512_mask_blend_ps(__mmask16 m, __m512 no, __m512 yes) {
    return (__m512)__builtin_ia32_blendmps_512_mask((lane_types::f16)no, (lane_types::f16)yes, m);
}
SINTER_INTRINSIC __m512i _mm512_maskz_compress_epi32(__mmask16 m, __m512i a) {
    return (__m512i)__builtin_ia32_compresssi512_mask((lane_types::i16)a, lane_types::i16{}, m);
}
SINTER_INTRINSIC __m512 _mm512_maskz_broadcast_f32x4(__mmask16 m, __m128 a) {
    return (__m512)__builtin_ia32_broadcastf32x4_512((lane_types::f4)a, lane_types::f16{}, m);
}
SINTER_INTRINSIC __m512 _mm512_maskz_compress_ps(__mmask16 m, __m512 a) {
    return (__m512)__builtin_ia32_compresssf512_mask((lane_types::f16)a, lane_types::f16{}, m);
}
#endif
#if defined(__AVX512BF16__)
#if __GNUC__ >= 13
typedef __bf16 __m512bh __attribute__((vector_size(64), may_alias));
#else
typedef short __m512bh __attribute__((vector_size(64), may_alias));
#endif
SINTER_INTRINSIC __m512 _mm512_dpbf16_ps(__m512 sum, __m512bh a, __m512bh b) {
    return (__m512)__builtin_ia32_dpbf16ps_v16sf((lane_types::f16)sum, a, b);
}
#endif

} // namespace sinter::cpu

#undef SINTER_INTRINSIC

#elif defined(__SSE2__)
#include <immintrin.h>
#if defined(__AVX__)
namespace sinter::inline SINTER_TARGET::cpu {
inline __attribute__((always_inline)) __m256 compare_not_less_or_equal(__m256 a, __m256 b) {
    return _mm256_cmp_ps(a, b, _CMP_NLE_UQ);
}
} // namespace sinter::cpu
#endif
#endif
