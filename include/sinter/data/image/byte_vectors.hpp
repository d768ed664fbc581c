// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// What arithmetic on pictures needs of vectors. They have sixteen bytes, as every processor's have: this code is
/// compiled once for all of them (base/separate_compilation.hpp).
namespace sinter::inline SINTER_ORDINARY::data::image::detail {

using sixteen_bytes = std::uint8_t __attribute__((vector_size(16)));

using eight_shorts = std::int16_t __attribute__((vector_size(16)));

using four_integers = std::int32_t __attribute__((vector_size(16)));

inline sixteen_bytes load_sixteen(const std::uint8_t* p) {
    sixteen_bytes v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
/// Eight bytes, and eight zeros.
inline sixteen_bytes load_eight(const std::uint8_t* p) {
    using two_words = std::uint64_t __attribute__((vector_size(16)));
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    const two_words v = {word, 0};
    return (sixteen_bytes)v;
}
inline eight_shorts load_shorts(const std::int16_t* p) {
    eight_shorts v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

/// a[0], b[0], a[1], b[1], ... of the lower or the upper eight.
inline sixteen_bytes interleave_low(sixteen_bytes a, sixteen_bytes b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline sixteen_bytes interleave_high(sixteen_bytes a, sixteen_bytes b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
/// The lower or the upper eight bytes as integers of 16 bits, on little-endian processors.
inline eight_shorts widen_low(sixteen_bytes v) { return (eight_shorts)interleave_low(v, sixteen_bytes{}); }
inline eight_shorts widen_high(sixteen_bytes v) { return (eight_shorts)interleave_high(v, sixteen_bytes{}); }

/// a[0] * b[0] + a[1] * b[1], a[2] * b[2] + a[3] * b[3], ...
inline four_integers sums_of_pairs_plain(eight_shorts a, eight_shorts b) {
    four_integers sum;
    for (int i = 0; i < 4; ++i) sum[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    return sum;
}
/// All sixteen, those below 0 as 0 and those over 255 as 255.
inline sixteen_bytes pack_plain(four_integers a, four_integers b, four_integers c, four_integers d) {
    sixteen_bytes bytes;
    for (int i = 0; i < 4; ++i) {
        const auto byte = [](std::int32_t v) { return static_cast<std::uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v); };
        bytes[i] = byte(a[i]), bytes[4 + i] = byte(b[i]), bytes[8 + i] = byte(c[i]), bytes[12 + i] = byte(d[i]);
    }
    return bytes;
}

#if defined(__SSE2__)   // one instruction each, which compilers do not find in the loops above
inline four_integers sums_of_pairs(eight_shorts a, eight_shorts b) {
    using shorts = short __attribute__((vector_size(16)));
    return (four_integers)__builtin_ia32_pmaddwd128((shorts)a, (shorts)b);
}
inline sixteen_bytes pack(four_integers a, four_integers b, four_integers c, four_integers d) {
    using integers = int __attribute__((vector_size(16)));
    return (sixteen_bytes)__builtin_ia32_packuswb128(__builtin_ia32_packssdw128((integers)a, (integers)b),
                                                     __builtin_ia32_packssdw128((integers)c, (integers)d));
}
#else
inline four_integers sums_of_pairs(eight_shorts a, eight_shorts b) { return sums_of_pairs_plain(a, b); }
inline sixteen_bytes pack(four_integers a, four_integers b, four_integers c, four_integers d) {
    return pack_plain(a, b, c, d);
}
#endif

/// Four of them as bytes, clipped likewise.
inline void store_four(four_integers v, std::uint8_t* to) {
    const sixteen_bytes bytes = pack(v, v, v, v);
    std::memcpy(to, &bytes, 4);
}

} // namespace sinter::data::image::detail
