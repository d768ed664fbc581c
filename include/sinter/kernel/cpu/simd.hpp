// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <cstring>

#include <sinter/kernel/cpu/intrinsics.hpp>

/// The vector type of the target, from SSE2 to AVX-512, in the compilers' portable vector extension; NEON and
/// WebAssembly compilers accept the same code with 4 lanes. Only what the extension cannot say uses intrinsics.
#define SINTER_INLINE __attribute__((always_inline)) inline

namespace sinter::cpu {

#if defined(__AVX512F__)
inline constexpr int lanes = 16, registers = 32;
#elif defined(__AVX__)
inline constexpr int lanes = 8, registers = 16;
#elif defined(__aarch64__)
inline constexpr int lanes = 4, registers = 32;
#else
inline constexpr int lanes = 4, registers = 16;
#endif

typedef float vf __attribute__((vector_size(4 * lanes)));
typedef std::int32_t vi __attribute__((vector_size(4 * lanes)));
typedef std::uint32_t vu __attribute__((vector_size(4 * lanes)));

SINTER_INLINE vf zero() { return vf{}; }
// `s - vf{}` is a pure broadcast; `s + vf{}` would have to turn -0 into +0 and so costs an addition.
SINTER_INLINE vf splat(float s) { return s - vf{}; }
SINTER_INLINE vi splat(std::int32_t s) { return s - vi{}; }

SINTER_INLINE vf load(const float* p) { vf v; std::memcpy(&v, p, sizeof v); return v; }
SINTER_INLINE void store(float* p, vf v) { std::memcpy(p, &v, sizeof v); }

#if defined(__AVX512F__)
SINTER_INLINE __mmask16 first_lanes(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
SINTER_INLINE vf load(const float* p, int n) { return (vf)_mm512_maskz_loadu_ps(first_lanes(n), p); }
SINTER_INLINE void store(float* p, vf v, int n) { _mm512_mask_storeu_ps(p, first_lanes(n), (__m512)v); }
#elif defined(__AVX__)
alignas(32) inline constexpr std::int32_t lane_masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
SINTER_INLINE __m256i first_lanes(int n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lane_masks + 8 - n));
}
SINTER_INLINE vf load(const float* p, int n) { return (vf)_mm256_maskload_ps(p, first_lanes(n)); }
SINTER_INLINE void store(float* p, vf v, int n) { _mm256_maskstore_ps(p, first_lanes(n), (__m256)v); }
#else
SINTER_INLINE vf load(const float* p, int n) {   ///< the first n lanes (0 <= n <= lanes); the others are zero
    vf v{};
    for (int i = 0; i < n; ++i) v[i] = p[i];
    return v;
}
SINTER_INLINE void store(float* p, vf v, int n) {
    for (int i = 0; i < n; ++i) p[i] = v[i];
}
#endif

#if defined(__AVX512F__)
SINTER_INLINE vf fma(vf a, vf b, vf c) { return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
// Masked with all lanes on: g++ 12's plain forms warn of an uninitialised operand. The instructions are the same.
inline constexpr __mmask16 all_lanes = 0xffff;
SINTER_INLINE vf max(vf a, vf b) { return (vf)_mm512_maskz_max_ps(all_lanes, (__m512)a, (__m512)b); }
SINTER_INLINE vf min(vf a, vf b) { return (vf)_mm512_maskz_min_ps(all_lanes, (__m512)a, (__m512)b); }
SINTER_INLINE vf sqrt(vf a) { return (vf)_mm512_maskz_sqrt_ps(all_lanes, (__m512)a); }
#elif defined(__AVX__)
#if defined(__FMA__)
SINTER_INLINE vf fma(vf a, vf b, vf c) { return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#else
SINTER_INLINE vf fma(vf a, vf b, vf c) { return a * b + c; }
#endif
SINTER_INLINE vf max(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
SINTER_INLINE vf min(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
SINTER_INLINE vf sqrt(vf a) { return (vf)_mm256_sqrt_ps((__m256)a); }
#else
SINTER_INLINE vf fma(vf a, vf b, vf c) { return a * b + c; }
SINTER_INLINE vf max(vf a, vf b) { return a > b ? a : b; }   // as x86: the second operand where either is NaN
SINTER_INLINE vf min(vf a, vf b) { return a < b ? a : b; }
SINTER_INLINE vf sqrt(vf a) {
    for (int i = 0; i < lanes; ++i) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
#endif

/// Keeps a loaded value in a register: g++ 12 would fold the load into each of up to four uses and saturate the load
/// ports.
#if defined(__AVX512F__)
SINTER_INLINE void pin(vf& v) { asm("" : "+v"(v)); }
#elif defined(__SSE__)
SINTER_INLINE void pin(vf& v) { asm("" : "+x"(v)); }
#elif defined(__aarch64__)
SINTER_INLINE void pin(vf& v) { asm("" : "+w"(v)); }
#else
SINTER_INLINE void pin(vf&) {}
#endif

SINTER_INLINE vf select(vi mask, vf yes, vf no) { return (vf)(((vi)yes & mask) | ((vi)no & ~mask)); }

/// Sum and maximum over the lanes, by halves: an order that never changes.
SINTER_INLINE float sum_lanes(vf v) {
    float t[lanes];
    store(t, v);
    for (int h = lanes / 2; h; h /= 2)
        for (int i = 0; i < h; ++i) t[i] += t[i + h];
    return t[0];
}
SINTER_INLINE float max_lanes(vf v) {
    float t[lanes];
    store(t, v);
    for (int h = lanes / 2; h; h /= 2)
        for (int i = 0; i < h; ++i) t[i] = t[i] > t[i + h] ? t[i] : t[i + h];
    return t[0];
}

} // namespace sinter::cpu
