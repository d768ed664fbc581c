// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>

#include <sinter/kernel/cpu/vector/intrinsics.hpp>

/// The vector type of the target, from SSE2 to AVX-512, in the compilers' portable vector
/// extension; NEON and WebAssembly compilers accept the same code with 4 lanes. Only what the
/// extension cannot say uses intrinsics.
#define SINTER_INLINE __attribute__((always_inline)) inline
/// Marks a lambda that must vanish into its caller: an accumulator that a lambda reaches through
/// memory costs a factor.
#define SINTER_ALWAYS __attribute__((always_inline))
/// For functions of many instructions that several kernels call: neither inlined nor, by g++,
/// compiled once more for each set of constant arguments.
#if defined(__clang__)
#define SINTER_ONCE __attribute__((noinline))
#else
#define SINTER_ONCE __attribute__((noinline, noclone))
#endif

namespace sinter::inline SINTER_TARGET::cpu {

#if defined(__AVX512F__)
inline constexpr int lanes = 16, registers = 32;
#elif defined(__AVX__)
inline constexpr int lanes = 8, registers = 16;
#elif defined(__aarch64__)
inline constexpr int lanes = 4, registers = 32;
#else
inline constexpr int lanes = 4, registers = 16;
#endif

inline constexpr int floats_a_line = 16;   ///< of a cache

/// Has the target an instruction for pairs of bfloat16 (bfloat16.hpp)? Only then does a program
/// multiply such.
#if defined(__AVX512BF16__)
inline constexpr bool multiplies_pairs = true;
#else
inline constexpr bool multiplies_pairs = false;
#endif

typedef float vf __attribute__((vector_size(4 * lanes)));
typedef std::int32_t vi __attribute__((vector_size(4 * lanes)));
typedef std::uint32_t vu __attribute__((vector_size(4 * lanes)));

SINTER_INLINE vf zero() { return vf{}; }
// `s - vf{}` is a pure broadcast; `s + vf{}` would have to turn -0 into +0 and so costs an
// addition.
SINTER_INLINE vf splat(float s) { return s - vf{}; }
SINTER_INLINE vi splat(std::int32_t s) { return s - vi{}; }
/// 0, 1, ... Written out: where g++ takes code for cold, a loop over lanes would stay one.
template <class V, int... L>
SINTER_INLINE V counted(std::integer_sequence<int, L...>) {
    return V{L...};
}
SINTER_INLINE vi lane_numbers() { return counted<vi>(std::make_integer_sequence<int, lanes>{}); }

// Not by memcpy: a store that may alias anything would have a kernel's operands' addresses read
// again for each vector.
typedef float vf_anywhere __attribute__((vector_size(4 * lanes), aligned(4)));
SINTER_INLINE vf load(const float* p) { return *reinterpret_cast<const vf_anywhere*>(p); }
SINTER_INLINE void store(float* p, vf v) { *reinterpret_cast<vf_anywhere*>(p) = v; }

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
// In halves, not masked: a masked store takes Zen a dozen cycles, and no load can be served from it
// while it waits.
SINTER_INLINE void store(float* p, vf v, int n) {
    typedef float vf4 __attribute__((vector_size(16)));
    typedef float vf2 __attribute__((vector_size(8)));
    if (n == lanes) return store(p, v);
    vf4 h = __builtin_shufflevector(v, v, 0, 1, 2, 3);
    if (n & 4) {
        std::memcpy(p, &h, sizeof h);
        h = __builtin_shufflevector(v, v, 4, 5, 6, 7);
        p += 4;
    }
    if (n & 2) {
        const vf2 q = __builtin_shufflevector(h, h, 0, 1);
        std::memcpy(p, &q, sizeof q);
        h = __builtin_shufflevector(h, h, 2, 3, 2, 3);
        p += 2;
    }
    if (n & 1) *p = h[0];
}
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

/// Non-temporal stores, where a vector is a line: nothing is read that is to be overwritten. Others
/// see it after lines_are_stored(). Halves of a line are joined on their way if one is stored right
/// behind the other (store_half_lines), and else take longer than into a cache.
inline constexpr bool stores_whole_lines = lanes == floats_a_line, joins_halves = lanes == 8;
#if defined(__AVX512F__)
SINTER_INLINE void store_line(float* p, vf v) { _mm512_stream_ps(p, (__m512)v); }
SINTER_INLINE void store_half_lines(float* p, vf v) { store_line(p, v); }
SINTER_INLINE void lines_are_stored() { _mm_sfence(); }
#elif defined(__AVX__)
SINTER_INLINE void store_line(float* p, vf v) { store(p, v); }
SINTER_INLINE void store_half_lines(float* p, vf v) { _mm256_stream_ps(p, (__m256)v); }
SINTER_INLINE void lines_are_stored() { _mm_sfence(); }
#else
SINTER_INLINE void store_line(float* p, vf v) { store(p, v); }
SINTER_INLINE void store_half_lines(float* p, vf v) { store(p, v); }
SINTER_INLINE void lines_are_stored() {}
#endif
/// A vector that is read soon, or (NonTemporal) so late that it would be in no cache any more.
template <bool NonTemporal>
SINTER_INLINE void store_or_stream(float* p, vf v) {
    if constexpr (NonTemporal) store_line(p, v);
    else store(p, v);
}

#if defined(__AVX512F__)
SINTER_INLINE vf fma(vf a, vf b, vf c) { return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
// Masked with all lanes on: g++ 12's plain forms warn of an uninitialised operand. The instructions
// are the same.
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

/// Keeps a loaded value in a register: g++ 12 would fold the load into each of up to four uses and
/// saturate the load ports.
#if defined(__AVX512F__)
SINTER_INLINE void pin(vf& v) { asm("" : "+v"(v)); }
#elif defined(__SSE__)
SINTER_INLINE void pin(vf& v) { asm("" : "+x"(v)); }
#elif defined(__aarch64__)
SINTER_INLINE void pin(vf& v) { asm("" : "+w"(v)); }
#else
SINTER_INLINE void pin(vf&) {}
#endif

/// Has a sum grow where it is: a and b, whose product was just added to it, are still wanted. Else
/// g++ writes sums over them in some iterations of a loop of which several are written out, and has
/// to move sums about, by way of memory where all registers are taken.
SINTER_INLINE void keep([[maybe_unused]] vf& sum, [[maybe_unused]] vf a, [[maybe_unused]] vf b) {
#if defined(__AVX__)
    asm("" : "+x"(sum) : "x"(a), "x"(b));
#endif
}

/// Has what is loaded from p loaded after v is made, where a compiler that loads earlier would run
/// out of registers.
SINTER_INLINE void load_after([[maybe_unused]] const float*& p, [[maybe_unused]] const vf& v) {
#if defined(__AVX512F__)
    asm("" : "+r"(p) : "v"(v));
#elif defined(__SSE__)
    asm("" : "+r"(p) : "x"(v));
#elif defined(__aarch64__)
    asm("" : "+r"(p) : "w"(v));
#endif
}

SINTER_INLINE vf select(vi mask, vf yes, vf no) { return mask ? yes : no; }
/// NaN where either is: max itself gives the second operand then.
SINTER_INLINE vf max_or_nan(vf a, vf b) { return select(b == b, max(b, a), b); }

namespace detail {
/// Combines the lanes by halves: an order that never changes.
template <class Combine>
SINTER_INLINE float combine_lanes(vf v, Combine combine) {
#if defined(__AVX512F__)
    const auto a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
    const auto b = combine(a, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
    const auto h = combine(__builtin_shufflevector(b, b, 0, 1, 2, 3), __builtin_shufflevector(b, b, 4, 5, 6, 7));
#elif defined(__AVX__)
    const auto h = combine(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7));
#else
    const auto h = v;
#endif
    const auto q = combine(h, __builtin_shufflevector(h, h, 2, 3, 2, 3));
    return combine(q, __builtin_shufflevector(q, q, 1, 1, 1, 1))[0];
}
} // namespace detail
SINTER_INLINE float sum_lanes(vf v) {
    return detail::combine_lanes(v, [](auto a, auto b) SINTER_ALWAYS { return a + b; });
}
SINTER_INLINE float max_lanes(vf v) {   ///< NaN where one is: what is asked meanwhile
    const float most = detail::combine_lanes(v, [](auto a, auto b) SINTER_ALWAYS { return a > b ? a : b; });
    return sum_lanes((vf)((vi)v & (v != v))) == 0.f ? most : __builtin_nanf("");
}

} // namespace sinter::cpu
