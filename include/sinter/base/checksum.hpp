// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <bit>
#include <cstdint>
#include <cstring>

namespace sinter::base {

/// XXH64 of bytes that come in pieces: fast, for data. It finds damage, not forgery.
/// Source: the xxHash specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
class checksum {
public:
    explicit checksum(std::uint64_t seed = 0)
        : lane_{seed + p1 + p2, seed + p2, seed, seed - p1}, seed_(seed) {}

    SINTER_SELDOM void update(span<const std::byte> bytes);

    SINTER_SELDOM std::uint64_t value() const;

    SINTER_SELDOM static std::uint64_t of(span<const std::byte> bytes, std::uint64_t seed = 0);

private:
    static constexpr std::size_t stripe = 32;
    static constexpr std::uint64_t p1 = 0x9E3779B185EBCA87u, p2 = 0xC2B2AE3D27D4EB4Fu, p3 = 0x165667B19E3779F9u,
                                   p4 = 0x85EBCA77C2B2AE63u, p5 = 0x27D4EB2F165667C5u;
    std::uint64_t lane_[4];
    std::uint64_t seed_, total_ = 0;
    std::byte rest_[stripe];

    static std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
        return std::rotl(lane + word * p2, 31) * p1;
    }
    template <class T>
    static std::uint64_t little(T n) {
        if constexpr (std::endian::native == std::endian::little) return n;
        else return sizeof(T) == 8 ? __builtin_bswap64(n) : __builtin_bswap32(static_cast<std::uint32_t>(n));
    }
    static std::uint64_t word(const std::byte* at) {
        std::uint64_t w;
        std::memcpy(&w, at, 8);
        return little(w);
    }
    SINTER_SELDOM void at_stripes(const std::byte* at, std::size_t n);
};

#if SINTER_BODIES
SINTER_SELDOM_BODY void checksum::update(span<const std::byte> bytes) {
    if (bytes.empty()) return;   // it may have no address
    const std::byte* at = bytes.data();
    std::size_t n = bytes.size();
    const std::size_t before = static_cast<std::size_t>(total_ % stripe);
    total_ += n;
    if (before != 0) {
        const std::size_t missing = stripe - before < n ? stripe - before : n;
        std::memcpy(rest_ + before, at, missing);
        at += missing;
        n -= missing;
        if (before + missing < stripe) return;
        at_stripes(rest_, 1);
    }
    at_stripes(at, n / stripe);
    at += n / stripe * stripe;
    if (n % stripe != 0) std::memcpy(rest_, at, n % stripe);
}

SINTER_SELDOM_BODY std::uint64_t checksum::value() const {
    std::uint64_t h = seed_ + p5;
    if (total_ >= stripe) {
        h = std::rotl(lane_[0], 1) + std::rotl(lane_[1], 7) + std::rotl(lane_[2], 12) + std::rotl(lane_[3], 18);
        for (const std::uint64_t lane : lane_) h = (h ^ round(0, lane)) * p1 + p4;
    }
    h += total_;
    const std::size_t n = static_cast<std::size_t>(total_ % stripe);
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) h = std::rotl(h ^ round(0, word(rest_ + i)), 27) * p1 + p4;
    if (i + 4 <= n) {
        std::uint32_t half;
        std::memcpy(&half, rest_ + i, 4);
        h = std::rotl(h ^ little(half) * p1, 23) * p2 + p3;
        i += 4;
    }
    for (; i < n; ++i) h = std::rotl(h ^ std::to_integer<std::uint64_t>(rest_[i]) * p5, 11) * p1;
    h = (h ^ h >> 33) * p2;
    h = (h ^ h >> 29) * p3;
    return h ^ h >> 32;
}

SINTER_SELDOM_BODY std::uint64_t checksum::of(span<const std::byte> bytes, std::uint64_t seed) {
    checksum c(seed);
    c.update(bytes);
    return c.value();
}

SINTER_SELDOM_BODY void checksum::at_stripes(const std::byte* at, std::size_t n) {
    std::uint64_t a = lane_[0], b = lane_[1], c = lane_[2], d = lane_[3];
    for (; n != 0; --n, at += stripe) {
        a = round(a, word(at));
        b = round(b, word(at + 8));
        c = round(c, word(at + 16));
        d = round(d, word(at + 24));
    }
    lane_[0] = a, lane_[1] = b, lane_[2] = c, lane_[3] = d;
}
#endif

} // namespace sinter::base
