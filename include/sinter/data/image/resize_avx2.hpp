// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/image/resize_axis.hpp>
#if SINTER_BODIES
#include <sinter/data/image/byte_vectors.hpp>
#include <algorithm>
#endif

/// The two passes of resize with vectors of 32 bytes. Which of both forms runs is known when the program does, not when
/// it is compiled: the library of ordinary code is made for all processors.
namespace sinter::inline SINTER_ORDINARY::data::image {

#if SINTER_BODIES
namespace detail {

#if defined(__x86_64__)
#define SINTER_AVX2 [[gnu::target("avx2")]]

using thirty_two_bytes = std::uint8_t __attribute__((vector_size(32)));

using eight_integers = std::int32_t __attribute__((vector_size(32)));

inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }

SINTER_AVX2 inline thirty_two_bytes load_wide(const void* p) {
    thirty_two_bytes v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
SINTER_AVX2 inline thirty_two_bytes both(sixteen_bytes a, sixteen_bytes b) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                   22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
#else   // g++ makes of that an instruction that fewer of a processor's units know
    using integers = int __attribute__((vector_size(16)));
    using words = long long __attribute__((vector_size(16)));
    using wide_words = long long __attribute__((vector_size(32)));
    const auto lower = (wide_words)__builtin_ia32_si256_si((integers)a);
    return (thirty_two_bytes)__builtin_ia32_insert128i256(lower, (words)b, 1);
#endif
}
SINTER_AVX2 inline thirty_two_bytes twice(sixteen_bytes v) { return both(v, v); }
/// As interleave_low and interleave_high do, in each half.
SINTER_AVX2 inline thirty_two_bytes interleave_lows(thirty_two_bytes a, thirty_two_bytes b) {
    return __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50,
                                   19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
}
SINTER_AVX2 inline thirty_two_bytes interleave_highs(thirty_two_bytes a, thirty_two_bytes b) {
    return __builtin_shufflevector(a, b, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57,
                                   26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63);
}
/// Bytes that are pairs of 16-bit integers.
SINTER_AVX2 inline eight_integers wide_sums(thirty_two_bytes a, thirty_two_bytes b) {
    using shorts = short __attribute__((vector_size(32)));
    return (eight_integers)__builtin_ia32_pmaddwd256((shorts)a, (shorts)b);
}

/// resize_sum of eight.
struct wide_sum {
    eight_integers high{}, low{};
    SINTER_AVX2 void add(thirty_two_bytes bytes, thirty_two_bytes high_weights, thirty_two_bytes low_weights) {
        high += wide_sums(bytes, high_weights);
        low += wide_sums(bytes, low_weights);
    }
    SINTER_AVX2 eight_integers value() const {
        constexpr std::int32_t half = 1 << (resize_bits - 1);
        return ((high << resize_low_bits) + low + half) >> resize_bits;
    }
};

template <std::size_t Channels>
[[gnu::always_inline]] SINTER_AVX2 inline void add_two_taps(wide_sum& sum, const std::uint8_t* one,
                                                            const std::uint8_t* other, const std::int16_t* weights,
                                                            std::size_t k, thirty_two_bytes shuffle) {
    using chars = char __attribute__((vector_size(32)));
    const thirty_two_bytes bytes = both(load_sixteen(one + k * Channels), load_sixteen(other + k * Channels));
    sum.add((thirty_two_bytes)__builtin_ia32_pshufb256((chars)bytes, (chars)shuffle), load_wide(weights + 16 * k),
            load_wide(weights + 16 * k + 16));
}
/// Two places at once, one in each half: a shuffle takes the bytes of two taps, and puts a 0 behind each. `Taps` is 0,
/// or how many the axis has: a loop of known length costs two thirds.
template <std::size_t Channels, std::size_t Taps>
SINTER_AVX2 void resize_row_avx2_of(const std::uint8_t* in, const resize_axis& axis, std::uint8_t* out) {
    using shorts = short __attribute__((vector_size(32)));
    using integers = int __attribute__((vector_size(32)));
    alignas(32) std::uint8_t which[32];
    for (std::size_t i = 0; i < 32; ++i)
        which[i] = static_cast<std::uint8_t>(i % 2 ? 0x80 : i / 2 % 2 * Channels + i % 16 / 4);
    const thirty_two_bytes shuffle = load_wide(which);
    const std::int16_t* weights = axis.weights.data();
    const std::size_t* const first = axis.first.data();
    const std::size_t places = axis.first.size(), taps = Taps != 0 ? Taps : axis.taps;
    for (std::size_t i = 0; i < places; i += 2, out += 2 * Channels, weights += 16 * taps) {
        const std::size_t next = i + 1 < places ? i + 1 : i;
        const std::uint8_t *one = in + first[i] * Channels, *other = in + first[next] * Channels;
        wide_sum sum;
        if constexpr (Taps != 0) {
            add_two_taps<Channels>(sum, one, other, weights, 0, shuffle);
            if constexpr (Taps > 2) add_two_taps<Channels>(sum, one, other, weights, 2, shuffle);
            if constexpr (Taps > 4) add_two_taps<Channels>(sum, one, other, weights, 4, shuffle);
            if constexpr (Taps > 6) add_two_taps<Channels>(sum, one, other, weights, 6, shuffle);
        } else {
            for (std::size_t k = 0; k < taps; k += 2) add_two_taps<Channels>(sum, one, other, weights, k, shuffle);
        }
        const auto value = (integers)sum.value();
        const shorts narrow = __builtin_ia32_packssdw256(value, value);
        const auto packed = (integers)__builtin_ia32_packuswb256(narrow, narrow);
        const int at_i = packed[0], at_next = next == i ? at_i : packed[4];
        std::memcpy(out, &at_i, 4);
        std::memcpy(out + (next - i) * Channels, &at_next, 4);
    }
}
inline void resize_row_avx2(std::size_t channels, const std::uint8_t* in, const resize_axis& axis, std::uint8_t* out) {
    if (channels == 1) resize_row_avx2_of<1, 0>(in, axis, out);
    else if (channels == 2) resize_row_avx2_of<2, 0>(in, axis, out);
    else if (channels == 4) resize_row_avx2_of<4, 0>(in, axis, out);
    else if (axis.taps == 2) resize_row_avx2_of<3, 2>(in, axis, out);
    else if (axis.taps == 4) resize_row_avx2_of<3, 4>(in, axis, out);
    else if (axis.taps == 6) resize_row_avx2_of<3, 6>(in, axis, out);
    else if (axis.taps == 8) resize_row_avx2_of<3, 8>(in, axis, out);
    else resize_row_avx2_of<3, 0>(in, axis, out);
}

SINTER_AVX2 inline void resize_column_avx2(const std::uint8_t* const* rows, std::size_t taps,
                                           const std::int16_t* weights, std::uint8_t* out, std::size_t n) {
    using shorts = short __attribute__((vector_size(32)));
    using integers = int __attribute__((vector_size(32)));
    const thirty_two_bytes zero{};
    for (std::size_t i = 0; i < n; i += 32) {
        wide_sum a, b, c, d;
        for (std::size_t k = 0; k < taps; k += 2) {
            const thirty_two_bytes one = load_wide(rows[k] + i), other = load_wide(rows[k + 1] + i);
            const thirty_two_bytes lower = interleave_lows(one, other), upper = interleave_highs(one, other);
            const thirty_two_bytes high = twice((sixteen_bytes)load_shorts(weights + 8 * k)),
                                   low = twice((sixteen_bytes)load_shorts(weights + 8 * k + 8));
            a.add(interleave_lows(lower, zero), high, low);
            b.add(interleave_highs(lower, zero), high, low);
            c.add(interleave_lows(upper, zero), high, low);
            d.add(interleave_highs(upper, zero), high, low);
        }
        const shorts ab = __builtin_ia32_packssdw256((integers)a.value(), (integers)b.value()),
                     cd = __builtin_ia32_packssdw256((integers)c.value(), (integers)d.value());
        const auto packed = (thirty_two_bytes)__builtin_ia32_packuswb256(ab, cd);
        std::memcpy(out + i, &packed, std::min<std::size_t>(32, n - i));
    }
}

#undef SINTER_AVX2
#else
inline bool has_avx2() { return false; }
inline void resize_row_avx2(std::size_t, const std::uint8_t*, const resize_axis&, std::uint8_t*) {}
inline void resize_column_avx2(const std::uint8_t* const*, std::size_t, const std::int16_t*, std::uint8_t*,
                               std::size_t) {}
#endif

} // namespace detail
#endif

} // namespace sinter::data::image
