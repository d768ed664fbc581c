// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/simd.hpp>

namespace sinter::inline SINTER_TARGET::cpu {

/// pick_lanes(v, which): lane l is v[which[l] % lanes]. One instruction where `picks_lanes`;
/// elsewhere it is not used. `has_tables`: of sixteen, which are enough for a small table.
#if defined(__AVX512F__)
inline constexpr bool picks_lanes = true, has_tables = true;
SINTER_INLINE vf pick_lanes(vf v, vi which) {
    return (vf)_mm512_maskz_permutexvar_ps(all_lanes, (__m512i)which, (__m512)v);
}
#elif defined(__AVX2__)
inline constexpr bool picks_lanes = true, has_tables = false;
SINTER_INLINE vf pick_lanes(vf v, vi which) { return (vf)_mm256_permutevar8x32_ps((__m256)v, (__m256i)which); }
#else
inline constexpr bool picks_lanes = false, has_tables = false;
SINTER_INLINE vf pick_lanes(vf v, vi which) {
    vf r{};
    for (int i = 0; i < lanes; ++i) r[i] = v[which[i] & (lanes - 1)];
    return r;
}
#endif

/// Eight floats from either place in one vector, where there is room.
SINTER_INLINE vf load_eights(const float* low, [[maybe_unused]] const float* high) {
#if defined(__AVX512F__)
    typedef float eight __attribute__((vector_size(32), aligned(4)));
    return __builtin_shufflevector(*reinterpret_cast<const eight*>(low), *reinterpret_cast<const eight*>(high), 0, 1, 2,
                                   3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return load(low);
#endif
}

/// permute_quad(p, which): lane l is p[which[l]], which < 4. One instruction beside the load where
/// there is AVX; elsewhere it would not pay, and is not used.
#if defined(__AVX__) && !defined(__AVX512F__)
inline constexpr bool has_permute = true;
SINTER_INLINE vf permute_quad(const float* p, vi which) {
    return (vf)_mm256_permutevar_ps(_mm256_broadcast_ps(reinterpret_cast<const __m128*>(p)), (__m256i)which);
}
#else
inline constexpr bool has_permute = has_tables;
SINTER_INLINE vf permute_quad(const float* p, vi which) {
    vf v;
    for (int i = 0; i < lanes; ++i) v[i] = p[which[i]];
    return v;
}
#endif

} // namespace sinter::cpu
