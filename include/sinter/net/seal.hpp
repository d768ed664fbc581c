// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/openssl.hpp>
#include <sinter/net/payload_checksum.hpp>
#include <cstdint>
#include <memory>

namespace sinter::inline SINTER_ORDINARY::wire {

/// What both ends of a connection agree on for one direction of it. Made anew for each connection
/// by its handshake, so that no pair of key and frame number is ever used twice.
struct direction_key {
    bool secret = false;                  // false: no job key was given; frames are checked for damage alone
    std::array<std::byte, 16> key{};         // of AES-128
    std::array<std::byte, 4> connection{};   // the first four bytes of each nonce
    std::uint64_t seed = 0;                  // of checksums: a number of its own, which reveals nothing of the key
};

/// The last 16 bytes of every frame: GMAC (NIST SP 800-38D, AES-128) of its header and payload,
/// whose nonce is the connection and the frame's number; without a secret a checksum and that of
/// itself.
class seal {
public:
    using tag = std::array<std::byte, 16>;

    explicit seal(const direction_key& k) : key_(k) {
        if (!k.secret) return;
        context_.reset(::EVP_CIPHER_CTX_new());
        if (!context_ || ::EVP_EncryptInit_ex(context_.get(), ::EVP_aes_128_gcm(), nullptr, octets(k.key.data()),
                                              nullptr) != 1)
            throw_openssl("AES-128-GCM");
    }

    /// Begins frame `number` of this direction, counted from 0.
    void begin(std::uint64_t number) {
        if (!context_) {
            sum_ = payload_checksum(key_.seed ^ number);
            return;
        }
        std::array<std::byte, 12> nonce;
        std::memcpy(nonce.data(), key_.connection.data(), 4);
        for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<std::byte>(number >> 8 * i);
        if (::EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, octets(nonce.data())) != 1)
            throw_openssl("a nonce of AES-128-GCM");
    }
    void update(span<const std::byte> bytes) {
        if (bytes.empty()) return;
        if (!context_) return sum_.update(bytes);
        int n = 0;
        if (::EVP_EncryptUpdate(context_.get(), nullptr, &n, octets(bytes.data()), static_cast<int>(bytes.size())) != 1)
            throw_openssl("GMAC");
    }
    tag finish() {
        tag t;
        if (!context_) {
            const std::uint64_t once = sum_.value();
            const std::uint64_t twice = base::checksum::of({reinterpret_cast<const std::byte*>(&once), 8}, key_.seed);
            std::memcpy(t.data(), &once, 8);
            std::memcpy(t.data() + 8, &twice, 8);
            return t;
        }
        int n = 0;
        if (::EVP_EncryptFinal_ex(context_.get(), octets(t.data()), &n) != 1 ||
            ::EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(t.size()), t.data()) != 1)
            throw_openssl("GMAC");
        return t;
    }
    std::uint64_t seed() const { return key_.seed; }
    bool secret() const { return key_.secret; }

private:
    struct free_context {
        void operator()(EVP_CIPHER_CTX* c) const { ::EVP_CIPHER_CTX_free(c); }
    };
    direction_key key_;
    payload_checksum sum_;
    std::unique_ptr<EVP_CIPHER_CTX, free_context> context_;
};

} // namespace sinter::wire
