// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/kernel/cpu/vector/lane_mask.hpp>

/// Which elements are not exactly zero (NaN is not zero), as words of 64 bits: what is left of a
/// sum when terms with a factor of zero are left out is found by counting trailing zeros, in the
/// order in which all terms would be added.
namespace sinter::inline SINTER_TARGET::cpu {

inline constexpr int mask_bits = 64;
/// The first n bits of a word.
constexpr std::uint64_t first_bits(std::int64_t n) {
    return n >= mask_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

/// Bit l: lane l.
SINTER_INLINE std::uint64_t lane_bits(lane_mask v) {
#if defined(__AVX512F__)
    return v;
#elif defined(__AVX__)
    return static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_ps((__m256)v)));
#elif defined(__SSE2__)
    return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_ps((__m128)v)));
#else
    std::uint64_t m = 0;
    for (int i = 0; i < lanes; ++i) m |= static_cast<std::uint64_t>(v[i] != 0) << i;
    return m;
#endif
}
/// Bit l: lane l of v is not zero.
SINTER_INLINE std::uint64_t non_zero_bits(vf v) { return lane_bits(differs(v, zero())); }

/// Of x[0] to x[n - 1], n at most 64.
SINTER_INLINE std::uint64_t row_mask(const float* x, std::int64_t n) {
    std::uint64_t m = 0;
    if (n == mask_bits) {
        for (int i = 0; i < mask_bits; i += lanes) m |= non_zero_bits(load(x + i)) << i;
        return m;
    }
    for (std::int64_t i = 0; i < n; i += lanes)
        m |= non_zero_bits(n - i < lanes ? load(x + i, static_cast<int>(n - i)) : load(x + i)) << i;
    return m;
}

/// Of `lanes` neighbouring columns at once: bit i of mask[l] is for x[i * step + l], i < n <= 64.
SINTER_INLINE void column_masks(const float* x, std::int64_t step, std::int64_t n, std::uint64_t* mask) {
    vi half[2] = {};
    for (int h = 0; h < 2; ++h) {
        vu bit = (vu)splat(std::int32_t{1});
        for (std::int64_t i = 32 * h; i < n && i < 32 * h + 32; ++i, bit += bit)
            half[h] |= (load(x + i * step) != zero()) & (vi)bit;
    }
    for (int l = 0; l < lanes; ++l)
        mask[l] = static_cast<std::uint32_t>(half[0][l]) |
                  static_cast<std::uint64_t>(static_cast<std::uint32_t>(half[1][l])) << 32;
}

/// f(bit) for each bit that is set, from the lowest on.
template <class F>
SINTER_INLINE void for_bits(std::uint64_t word, F f) {
    for (; word; word &= word - 1) f(static_cast<std::int64_t>(__builtin_ctzll(word)));
}

/// Elements that are not zero, up to which skipping the others is faster. It is at 0.75; sampling
/// may err.
inline constexpr float sparse_share = 0.64f;

/// The share of a matrix's elements that are not zero, as far as eight of its rows tell. These are
/// not equally far apart: where rows are texts' places, every text's first one may be zero (as
/// queries' gradients are behind causal attention).
__attribute__((noinline)) inline float non_zero_share(const float* x, std::int64_t rows, std::int64_t columns,
                                                      std::int64_t step) {
    const std::int64_t samples = rows < 8 ? rows : 8, apart = rows / samples;
    std::int64_t n = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
        const float* row = x + (s * apart + (37 * s + 11) % apart) * step;
        for (std::int64_t k = 0; k < columns; k += mask_bits)
            n += __builtin_popcountll(row_mask(row + k, columns - k < mask_bits ? columns - k : mask_bits));
    }
    return static_cast<float>(n) / static_cast<float>(samples * columns);
}

} // namespace sinter::cpu
