// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/checksum.hpp>
#include <sinter/base/target_namespace.hpp>
#include <algorithm>

namespace sinter::inline SINTER_ORDINARY::wire {

/// The checksum of a frame, of bytes that come in pieces: XXH3 of 64 bits with a seed; of 240 bytes
/// or fewer, for which XXH3 has other rules, XXH64. Several times as fast as XXH64, since it is
/// made for vectors; all processors compute the same. It finds damage, not forgery.
/// Source: the xxHash specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
class payload_checksum {
public:
    explicit payload_checksum(std::uint64_t seed = 0) : seed_(seed) {
        for (std::size_t i = 0; i < secret_bytes; i += 8)
            put(own_ + i, secret[i / 8] + (i % 16 == 0 ? seed : 0 - seed));
    }

    void update(span<const std::byte> bytes) {
        if (bytes.empty()) return;   // it may have no address
        const std::byte* at = bytes.data();
        std::size_t n = bytes.size();
        total_ += n;
        if (held_ + n > sizeof rest_) {   // whatever is consumed, something is held
            if (held_ > 0) {
                const std::size_t missing = sizeof rest_ - held_;
                std::memcpy(rest_ + held_, at, missing);
                at += missing, n -= missing;
                consume(rest_, sizeof rest_ / stripe);
                held_ = 0;
            }
            const std::size_t whole = (n - 1) / stripe;
            consume(at, whole);
            at += whole * stripe, n -= whole * stripe;
        }
        std::memcpy(rest_ + held_, at, n);
        held_ += n;
    }

    std::uint64_t value() const {
        if (total_ <= 240) return base::checksum::of({rest_, held_}, seed_);
        payload_checksum end = *this;
        end.consume(rest_, (held_ - 1) / stripe);
        std::byte last[stripe];
        const std::size_t here = std::min(held_, stripe);
        std::memcpy(last, before_ + here, stripe - here);
        std::memcpy(last + stripe - here, rest_ + held_ - here, here);
        accumulate(end.lane_, last, 1, own_ + secret_bytes - stripe - 7);
        std::uint64_t h = total_ * p1;
        for (std::size_t i = 0; i < 8; i += 2)
            h += folded(end.lane_[i] ^ word(own_ + 11 + 8 * i), end.lane_[i + 1] ^ word(own_ + 19 + 8 * i));
        h = (h ^ h >> 37) * 0x165667919E3779F9u;
        return h ^ h >> 32;
    }

    static std::uint64_t of(span<const std::byte> bytes, std::uint64_t seed = 0) {
        payload_checksum c(seed);
        c.update(bytes);
        return c.value();
    }

private:
    static constexpr std::size_t stripe = 64, secret_bytes = 192, stripes_of_block = (secret_bytes - stripe) / 8;
    static constexpr std::uint64_t p1 = 0x9E3779B185EBCA87u, p2 = 0xC2B2AE3D27D4EB4Fu, p3 = 0x165667B19E3779F9u,
                                   p4 = 0x85EBCA77C2B2AE63u, p5 = 0x27D4EB2F165667C5u, q1 = 0x9E3779B1u,
                                   q2 = 0x85EBCA77u, q3 = 0xC2B2AE3Du;
    static constexpr std::uint64_t secret[secret_bytes / 8] = {
        0xBE4BA423396CFEB8u, 0x1CAD21F72C81017Cu, 0xDB979083E96DD4DEu, 0x1F67B3B7A4A44072u,
        0x78E5C0CC4EE679CBu, 0x2172FFCC7DD05A82u, 0x8E2443F7744608B8u, 0x4C263A81E69035E0u,
        0xCB00C391BB52283Cu, 0xA32E531B8B65D088u, 0x4EF90DA297486471u, 0xD8ACDEA946EF1938u,
        0x3F349CE33F76FAA8u, 0x1D4F0BC7C7BBDCF9u, 0x3159B4CD4BE0518Au, 0x647378D9C97E9FC8u,
        0xC3EBD33483ACC5EAu, 0xEB6313FAFFA081C5u, 0x49DAF0B751DD0D17u, 0x9E68D429265516D3u,
        0xFCA1477D58BE162Bu, 0xCE31D07AD1B8F88Fu, 0x280416958F3ACB45u, 0x7E404BBBCAFBD7AFu};
    std::uint64_t lane_[8] = {q3, p1, p2, p3, p4, q2, p5, q1};
    std::uint64_t seed_, total_ = 0;
    std::size_t held_ = 0, stripes_ = 0;         // bytes that are not consumed; stripes of this block that are
    std::byte own_[secret_bytes];                // the secret under this seed
    std::byte rest_[256], before_[stripe] = {};  // what is held, and the last stripe that was consumed before it

    static std::uint64_t word(const std::byte* at) {
        std::uint64_t w;
        std::memcpy(&w, at, 8);
        if constexpr (std::endian::native == std::endian::big) w = __builtin_bswap64(w);
        return w;
    }
    static void put(std::byte* at, std::uint64_t w) {
        if constexpr (std::endian::native == std::endian::big) w = __builtin_bswap64(w);
        std::memcpy(at, &w, 8);
    }
    static std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
        __extension__ using wide = unsigned __int128;
        const wide product = static_cast<wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
#if defined(__AVX512F__)
    static constexpr std::size_t width = 64;
#elif defined(__AVX2__)
    static constexpr std::size_t width = 32;
#else
    static constexpr std::size_t width = 16;
#endif
    using lanes [[gnu::vector_size(width)]] = std::uint64_t;
    /// Low half times high half of each lane. GCC would multiply all 64 bits, for which AVX2 has no
    /// instruction.
    static lanes product_of_halves(lanes k) {
#if defined(__SSE2__) && !defined(__clang__) && !defined(__AVX512F__)
        using halves [[gnu::vector_size(width)]] = int;
#if defined(__AVX2__)
        return reinterpret_cast<lanes>(
            __builtin_ia32_pmuludq256(reinterpret_cast<halves>(k), reinterpret_cast<halves>(k >> 32)));
#else
        return reinterpret_cast<lanes>(
            __builtin_ia32_pmuludq128(reinterpret_cast<halves>(k), reinterpret_cast<halves>(k >> 32)));
#endif
#else
        return (k & 0xFFFFFFFFu) * (k >> 32);
#endif
    }
    /// Stripes of one block, the first of which uses the secret from `key` on. Both sums are kept
    /// apart until the end: lane i gets the words of lane i ^ 1, and no vector has to be shuffled
    /// for it.
    static void accumulate(std::uint64_t* lane, const std::byte* at, std::size_t n, const std::byte* key) {
        lanes words[stripe / width] = {}, products[stripe / width] = {};
        for (; n != 0; --n, at += stripe, key += 8)
            for (std::size_t i = 0; i < stripe / width; ++i) {
                lanes w, k;
                std::memcpy(&w, at + i * width, width);
                std::memcpy(&k, key + i * width, width);
                if constexpr (std::endian::native == std::endian::big)
                    for (std::size_t j = 0; j < width / 8; ++j)
                        w[j] = __builtin_bswap64(w[j]), k[j] = __builtin_bswap64(k[j]);
                words[i] += w;
                products[i] += product_of_halves(k ^ w);
            }
        std::uint64_t word_sums[8], product_sums[8];
        std::memcpy(word_sums, words, stripe);
        std::memcpy(product_sums, products, stripe);
        for (std::size_t i = 0; i < 8; ++i) lane[i] += word_sums[i ^ 1] + product_sums[i];
    }
    /// There are bytes after these stripes.
    void consume(const std::byte* at, std::size_t n) {
        if (n == 0) return;
        std::memcpy(before_, at + (n - 1) * stripe, stripe);
        while (n > 0) {
            const std::size_t some = std::min(n, stripes_of_block - stripes_);
            accumulate(lane_, at, some, own_ + 8 * stripes_);
            at += some * stripe, n -= some, stripes_ += some;
            if (stripes_ < stripes_of_block) return;
            stripes_ = 0;
            for (std::size_t i = 0; i < 8; ++i)
                lane_[i] = (lane_[i] ^ lane_[i] >> 47 ^ word(own_ + secret_bytes - stripe + 8 * i)) * q1;
        }
    }
};

} // namespace sinter::wire
