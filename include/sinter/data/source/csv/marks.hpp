// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <cstring>

namespace sinter::inline SINTER_ORDINARY::data::csv::detail {

/// Which of 64 bytes are quotes, line ends, or the delimiter: a bit each, the first byte's the lowest.
#if defined(__SSE2__)
inline std::uint64_t marks_of(const char* text, char delimiter) {
    typedef char bytes __attribute__((vector_size(16), aligned(1), may_alias));
    const bytes d = delimiter - bytes{}, quote = '"' - bytes{}, line_feed = '\n' - bytes{}, carriage = '\r' - bytes{};
    std::uint64_t marks = 0;
    for (int i = 0; i < 4; ++i) {
        const bytes v = *reinterpret_cast<const bytes*>(text + 16 * i);
        const auto found = (v == d) | (v == quote) | (v == line_feed) | (v == carriage);
        typedef char plain __attribute__((vector_size(16)));
        const auto bits = static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<plain>(found)));
        marks |= std::uint64_t{bits} << 16 * i;
    }
    return marks;
}
#else
inline std::uint64_t marks_of(const char* text, char delimiter) {
    constexpr std::uint64_t ones = 0x0101010101010101, low = 0x7f7f7f7f7f7f7f7f;
    std::uint64_t marks = 0;
    for (int i = 0; i < 8; ++i) {
        std::uint64_t v;
        std::memcpy(&v, text + 8 * i, sizeof v);
        const auto differ = [v](char c) {   // 0 in the top bit of each byte that is c
            const std::uint64_t x = v ^ ones * static_cast<unsigned char>(c);
            return ((x & low) + low) | x;
        };
        const std::uint64_t found =
            ~(differ(delimiter) & differ('"') & differ('\n') & differ('\r')) & ~low;   // the top bits alone
        marks |= (found >> 7) * 0x0102040810204080 >> 56 << 8 * i;   // one bit a byte, side by side (little endian)
    }
    return marks;
}
#endif

} // namespace sinter::data::csv::detail
