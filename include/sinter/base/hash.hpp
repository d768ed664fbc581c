// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <string_view>

namespace sinter::base {

/// FNV-1a, 64 bits, byte by byte. For names and a few numbers (checksum.hpp is for data), and not
/// for hostile input: collisions are easy to construct. Source: draft-eastlake-fnv, offset basis
/// and prime for 64 bits.
class fnv1a_hash {
public:
    constexpr void add(unsigned char byte) {
        hash_ ^= byte;
        hash_ *= 0x00000100000001b3u;
    }
    constexpr std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// Of a name's bytes: turns parameter and stage names into keys for random streams.
constexpr std::uint64_t fnv1a(std::string_view name) {
    fnv1a_hash hash;
    for (const char c : name) hash.add(static_cast<unsigned char>(c));
    return hash.value();
}

} // namespace sinter::base
