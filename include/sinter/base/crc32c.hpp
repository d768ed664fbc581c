// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <cstdint>
#if SINTER_BODIES
#include <array>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif
#endif

namespace sinter::base {

/// CRC-32C of bytes (Castagnoli's polynomial; RFC 3720, section 12.1): what iSCSI, ext4 and TFRecord files are checked
/// by. `before` is the CRC of the bytes that come before these: crc32c(b, crc32c(a)) is that of a and b in a row.
///
/// On x86 the processor is asked when the program runs, and the widest instructions used that it has (SSE 4.2's own for
/// it, AVX-512's products): one library serves all processors, and is as fast as one compiled for each. On aarch64 what
/// the file is compiled for decides.
SINTER_SELDOM std::uint32_t crc32c(span<const std::byte> bytes, std::uint32_t before = 0);

/// A CRC as TFRecord files have it: turned and moved, since the CRC of bytes that hold their own CRC finds less
/// (TensorFlow, tsl/lib/hash/crc32c.h).
constexpr std::uint32_t mask_crc32c(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }
/// That of bytes.
inline std::uint32_t masked_crc32c(span<const std::byte> bytes);

namespace detail {
/// The same without the processor's help: eight bytes at a time by tables ("slicing by 8"; Kounavis and Berry, A
/// Systematic Approach to Building High Performance, Software-based, CRC generators, 2005).
SINTER_SELDOM std::uint32_t crc32c_by_tables(span<const std::byte> bytes, std::uint32_t before = 0);
/// Whether this processor has instructions for it, which crc32c() then uses.
SINTER_SELDOM bool has_crc32c_instructions();
} // namespace detail

#if SINTER_BODIES
namespace detail {
inline constexpr std::uint32_t castagnoli = 0x82f63b78u;   ///< 0x1EDC6F41 with its bits in reverse: lowest first

/// table[k][b]: what a byte b becomes behind which come k bytes of zero.
struct crc32c_tables {
    std::array<std::array<std::uint32_t, 256>, 8> table{};
    constexpr crc32c_tables() {
        for (std::uint32_t b = 0; b < 256; ++b) {
            std::uint32_t crc = b;
            for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? castagnoli : 0);
            table[0][b] = crc;
        }
        for (std::size_t k = 1; k < 8; ++k)
            for (std::size_t b = 0; b < 256; ++b)
                table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
    }
};
inline constexpr crc32c_tables crc32c_table;

inline std::uint64_t crc32c_word(const std::byte* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
}

SINTER_SELDOM_BODY std::uint32_t crc32c_by_tables(span<const std::byte> bytes, std::uint32_t before) {
    const auto& t = crc32c_table.table;
    const std::byte* at = bytes.data();
    std::size_t n = bytes.size();
    std::uint32_t crc = ~before;
    for (; n >= 8; at += 8, n -= 8) {
        const std::uint64_t x = crc32c_word(at) ^ crc;
        crc = t[7][x & 255] ^ t[6][x >> 8 & 255] ^ t[5][x >> 16 & 255] ^ t[4][x >> 24 & 255] ^ t[3][x >> 32 & 255] ^
              t[2][x >> 40 & 255] ^ t[1][x >> 48 & 255] ^ t[0][x >> 56];
    }
    for (; n != 0; ++at, --n) crc = crc >> 8 ^ t[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 255];
    return ~crc;
}

#if defined(__x86_64__)
#define SINTER_CRC32C_TARGET __attribute__((target("sse4.2,pclmul")))
#define SINTER_CRC32C_WIDE __attribute__((target("sse4.2,avx512f,vpclmulqdq")))

/// x^n modulo the polynomial, bits in reverse.
constexpr std::uint32_t power_of_x(std::size_t n) {
    std::uint32_t power = 0x80000000u;   // x^0
    for (std::size_t i = 0; i < n; ++i) power = power >> 1 ^ (power & 1 ? castagnoli : 0);
    return power;
}
/// What `crc` becomes behind which come `Bytes` bytes of zero: its product with x^(8 Bytes). The instruction divides
/// by the polynomial after it has multiplied by x^32, and a product of bits in reverse lacks one place more.
template <std::size_t Bytes>
SINTER_CRC32C_TARGET inline std::uint32_t crc32c_behind_zeros(std::uint32_t crc) {
    static constexpr std::uint32_t factor = power_of_x(8 * Bytes - 33);
    const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi32_si128(static_cast<int>(crc)),
                                                 _mm_cvtsi32_si128(static_cast<int>(factor)), 0);
    return static_cast<std::uint32_t>(_mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product))));
}
/// As long as there are three times `Third` bytes: each third by itself, since the instruction takes three cycles but
/// begins every cycle.
template <std::size_t Third>
SINTER_CRC32C_TARGET inline const std::byte* crc32c_in_lanes(const std::byte* at, const std::byte* end,
                                                             std::uint32_t& crc) {
    for (; static_cast<std::size_t>(end - at) >= 3 * Third; at += 3 * Third) {
        std::uint64_t a = crc, b = 0, c = 0;
        for (std::size_t i = 0; i < Third; i += 8) {
            a = _mm_crc32_u64(a, crc32c_word(at + i));
            b = _mm_crc32_u64(b, crc32c_word(at + Third + i));
            c = _mm_crc32_u64(c, crc32c_word(at + 2 * Third + i));
        }
        crc = crc32c_behind_zeros<2 * Third>(static_cast<std::uint32_t>(a)) ^
              crc32c_behind_zeros<Third>(static_cast<std::uint32_t>(b)) ^ static_cast<std::uint32_t>(c);
    }
    return at;
}
template <class = void>
SINTER_CRC32C_TARGET inline std::uint32_t crc32c_by_instructions(span<const std::byte> bytes, std::uint32_t before) {
    const std::byte* at = bytes.data();
    const std::byte* const end = at + bytes.size();
    std::uint32_t crc = ~before;
    at = crc32c_in_lanes<2048>(at, end, crc);
    at = crc32c_in_lanes<128>(at, end, crc);
    for (; end - at >= 8; at += 8) crc = static_cast<std::uint32_t>(_mm_crc32_u64(crc, crc32c_word(at)));
    for (; at != end; ++at) crc = _mm_crc32_u8(crc, std::to_integer<unsigned char>(*at));
    return ~crc;
}

// Wider: four accumulators of 64 bytes, which are multiplied by a power of x to stand before what comes next (Gopal and
// others, Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, 2009). Compilers' own names of the
// instruction, since <immintrin.h>, which declares it, takes half a second to parse.
using crc32c_wide = long long __attribute__((vector_size(64)));
inline constexpr std::size_t least_wide = 256;   ///< bytes

SINTER_CRC32C_WIDE __attribute__((always_inline)) inline crc32c_wide wide_at(const std::byte* at) {
    crc32c_wide w;
    std::memcpy(&w, at, sizeof w);
    return w;
}
/// Each 16 bytes of `w` times x^(8 Bytes). The halves are multiplied each by itself; of bits in reverse the first is
/// the higher one, and the product lacks one place.
template <std::size_t Bytes>
SINTER_CRC32C_WIDE __attribute__((always_inline)) inline crc32c_wide moved_by(crc32c_wide w) {
    constexpr auto high = static_cast<long long>(std::uint64_t{power_of_x(8 * Bytes + 63)} << 32),
                   low = static_cast<long long>(std::uint64_t{power_of_x(8 * Bytes - 1)} << 32);
    constexpr crc32c_wide factors{high, low, high, low, high, low, high, low};
#if defined(__clang__)
    return __builtin_ia32_pclmulqdq512(w, factors, 0x00) ^ __builtin_ia32_pclmulqdq512(w, factors, 0x11);
#else
    return __builtin_ia32_vpclmulqdq_v8di(w, factors, 0x00) ^ __builtin_ia32_vpclmulqdq_v8di(w, factors, 0x11);
#endif
}
/// Of `least_wide` bytes or more.
template <class = void>
SINTER_CRC32C_WIDE inline std::uint32_t crc32c_by_wide_products(span<const std::byte> bytes, std::uint32_t before) {
    const std::byte* at = bytes.data();
    const std::byte* const end = at + bytes.size();
    crc32c_wide a = wide_at(at), b = wide_at(at + 64), c = wide_at(at + 128), d = wide_at(at + 192);
    a ^= crc32c_wide{static_cast<long long>(~before), 0, 0, 0, 0, 0, 0, 0};
    for (at += 256; end - at >= 256; at += 256) {
        a = moved_by<256>(a) ^ wide_at(at);
        b = moved_by<256>(b) ^ wide_at(at + 64);
        c = moved_by<256>(c) ^ wide_at(at + 128);
        d = moved_by<256>(d) ^ wide_at(at + 192);
    }
    a = moved_by<64>(moved_by<64>(moved_by<64>(a) ^ b) ^ c) ^ d;
    for (; end - at >= 64; at += 64) a = moved_by<64>(a) ^ wide_at(at);
    std::uint64_t crc = 0;
    for (int i = 0; i < 8; ++i) crc = _mm_crc32_u64(crc, static_cast<std::uint64_t>(a[i]));
    for (; end - at >= 8; at += 8) crc = _mm_crc32_u64(crc, crc32c_word(at));
    auto last = static_cast<std::uint32_t>(crc);
    for (; at != end; ++at) last = _mm_crc32_u8(last, std::to_integer<unsigned char>(*at));
    return ~last;
}
template <class = void>
bool has_wide_products() {
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("vpclmulqdq");
}
#undef SINTER_CRC32C_TARGET
#undef SINTER_CRC32C_WIDE
#elif defined(__ARM_FEATURE_CRC32)
template <class = void>
inline std::uint32_t crc32c_by_instructions(span<const std::byte> bytes, std::uint32_t before) {
    const std::byte* at = bytes.data();
    std::size_t n = bytes.size();
    std::uint32_t crc = ~before;
    for (; n >= 8; at += 8, n -= 8) crc = __crc32cd(crc, crc32c_word(at));
    for (; n != 0; ++at, --n) crc = __crc32cb(crc, std::to_integer<std::uint8_t>(*at));
    return ~crc;
}
#endif

SINTER_SELDOM_BODY bool has_crc32c_instructions() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
#elif defined(__ARM_FEATURE_CRC32)
    return true;
#else
    return false;
#endif
}
} // namespace detail

SINTER_SELDOM_BODY std::uint32_t crc32c(span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
    if (bytes.size() >= detail::least_wide && detail::has_wide_products())
        return detail::crc32c_by_wide_products(bytes, before);
#endif
#if defined(__x86_64__) || defined(__ARM_FEATURE_CRC32)
    if (detail::has_crc32c_instructions()) return detail::crc32c_by_instructions(bytes, before);
#endif
    return detail::crc32c_by_tables(bytes, before);
}
#endif

inline std::uint32_t masked_crc32c(span<const std::byte> bytes) { return mask_crc32c(crc32c(bytes)); }

} // namespace sinter::base
