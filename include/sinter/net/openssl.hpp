// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/error.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/target_namespace.hpp>
#include <array>
#include <string_view>

#if !__has_include(<openssl/evp.h>)
#error "sinter/net needs OpenSSL: install its headers (on Debian or Ubuntu: apt-get install libssl-dev)"
#endif
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

/// What is asked of OpenSSL's library of algorithms: hashes, keyed hashes, random bytes.
namespace sinter::inline SINTER_ORDINARY::wire {

using digest = std::array<std::byte, 32>;   // of SHA-256

[[noreturn]] SINTER_COLD inline void throw_openssl(std::string_view what) {
    throw error("OpenSSL refuses", what);
}

inline const unsigned char* octets(const std::byte* at) { return reinterpret_cast<const unsigned char*>(at); }
inline unsigned char* octets(std::byte* at) { return reinterpret_cast<unsigned char*>(at); }

SINTER_COLD inline digest sha256(span<const std::byte> bytes) {
    digest d;
    unsigned n = 0;
    if (::EVP_Digest(bytes.data(), bytes.size(), octets(d.data()), &n, ::EVP_sha256(), nullptr) != 1 || n != d.size())
        throw_openssl("SHA-256");
    return d;
}

/// HMAC-SHA256 (RFC 2104) of the pieces one after the other.
SINTER_COLD inline digest hmac_sha256(span<const std::byte> key, std::initializer_list<span<const std::byte>> pieces) {
    std::string text;
    for (const auto& p : pieces) text.append(reinterpret_cast<const char*>(p.data()), p.size());
    static constexpr unsigned char none = 0;   // an empty key, too, must have an address
    digest d;
    unsigned n = 0;
    if (!::HMAC(::EVP_sha256(), key.empty() ? &none : octets(key.data()), static_cast<int>(key.size()),
                reinterpret_cast<const unsigned char*>(text.data()), text.size(), octets(d.data()), &n) ||
        n != d.size())
        throw_openssl("HMAC-SHA256");
    return d;
}

/// Fills bytes that nobody can foresee.
SINTER_COLD inline void fill_random(span<std::byte> bytes) {
    if (::RAND_bytes(octets(bytes.data()), static_cast<int>(bytes.size())) != 1) throw_openssl("random bytes");
}

/// Whether two digests are equal, in a time that does not reveal where they differ.
SINTER_COLD inline bool equal_in_constant_time(span<const std::byte> a, span<const std::byte> b) {
    return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace sinter::wire
