// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <cstdint>
#include <string_view>

namespace sinter::base {

/// FNV-1a, 64 bits, of a name's bytes: turns parameter and stage names into keys for random
/// streams. Not for hostile input: collisions are easy to construct. Source: draft-eastlake-fnv,
/// offset basis and prime for 64 bits.
constexpr std::uint64_t fnv1a(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (char c : name) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x00000100000001b3u;
    }
    return hash;
}

} // namespace sinter::base
