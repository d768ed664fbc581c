// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/base/version.hpp>
#include <sinter/net/frame.hpp>
#include <sinter/net/identity.hpp>
#include <sinter/net/openssl.hpp>
#include <array>
#include <bit>
#include <string>

/// The first message that two processes send each other: who they are, and all that they must agree
/// on. It has a fixed size and is read without allocating for it.
namespace sinter::inline SINTER_ORDINARY::wire {

inline constexpr std::uint16_t protocol_major = 2, protocol_minor = 0;   // 1: servers' calls by their names
/// What a connection is for.
enum class purpose : std::uint8_t { control = 1, data = 2, service = 3, further = 4 };

struct greeting {
    std::uint16_t major = protocol_major, minor = protocol_minor;
    /// These bits as this machine has them in memory: they show byte order and float format.
    std::array<std::byte, 8> formats = std::bit_cast<std::array<std::byte, 8>>(
        std::array{0x01020304u, std::bit_cast<std::uint32_t>(-1.5f)});
    purpose use = purpose::control;
    std::uint8_t role = 0;           // the number of a role, as its enumeration has it
    bool keyed = false;
    std::int32_t index = 0;          // of the task among those of its role; purpose::further: the connection's number
    std::int32_t rank = 0, size = 1;
    identity same;
    std::uint64_t incarnation = 0;   // drawn once by each process: a restarted task has another
    std::array<std::byte, 32> nonce{};
    std::string library = SINTER_VERSION;   // at most 31 bytes
    std::string job;                 // at most 63
    std::string address;             // host:port where this member listens; at most 263
};

inline constexpr std::size_t greeting_bytes = 456;
using greeting_block = std::array<std::byte, greeting_bytes>;

/// What is wrong with a greeting, from the side that reads it.
enum class greeting_fault : std::uint8_t { none, not_sinter, protocol, malformed };

namespace detail {
inline constexpr std::uint32_t greeting_magic = 0x48524E53;   // "SNRH"
struct text_field { std::size_t at, length; };
inline constexpr text_field library_field{96, 32}, job_field{128, 64}, address_field{192, 264};

SINTER_COLD inline void put_text(greeting_block& b, text_field f, const std::string& s, const char* what) {
    if (s.size() >= f.length)
        throw option_error("is too long", what, to_text({s.size(), " bytes"}), to_text({"at most ", f.length - 1}));
    std::memcpy(b.data() + f.at, s.data(), s.size());
}
/// False: not printable text with nothing but zeros after it.
SINTER_COLD inline bool get_text(const greeting_block& b, text_field f, std::string& into) {
    std::size_t n = 0;
    for (; n < f.length && b[f.at + n] != std::byte{}; ++n)
        if (std::to_integer<unsigned>(b[f.at + n]) < 0x20 || b[f.at + n] == std::byte{0x7f}) return false;
    if (n == f.length) return false;
    for (std::size_t i = n; i < f.length; ++i)
        if (b[f.at + i] != std::byte{}) return false;
    into.assign(reinterpret_cast<const char*>(b.data() + f.at), n);
    return true;
}
} // namespace detail

/// Throws option_error for texts that do not fit.
SINTER_COLD inline greeting_block encode(const greeting& g) {
    greeting_block b{};
    detail::put(b.data(), detail::greeting_magic);
    detail::put(b.data() + 4, g.major);
    detail::put(b.data() + 6, g.minor);
    std::memcpy(b.data() + 8, g.formats.data(), 8);
    detail::put(b.data() + 16, static_cast<std::uint8_t>(g.use));
    detail::put(b.data() + 17, g.role);
    detail::put(b.data() + 18, static_cast<std::uint8_t>(g.keyed));
    detail::put(b.data() + 20, g.index);
    detail::put(b.data() + 24, g.rank);
    detail::put(b.data() + 28, g.size);
    detail::put(b.data() + 32, g.same.model);
    detail::put(b.data() + 40, g.same.layout);
    detail::put(b.data() + 48, g.same.policy);
    detail::put(b.data() + 56, g.incarnation);
    std::memcpy(b.data() + 64, g.nonce.data(), g.nonce.size());
    detail::put_text(b, detail::library_field, g.library, "the library's version");
    detail::put_text(b, detail::job_field, g.job, "the job's name");
    detail::put_text(b, detail::address_field, g.address, "a member's address");
    return b;
}

/// Reads any 456 bytes. Of another protocol only `major`, `minor` and `library` count.
SINTER_COLD inline greeting_fault decode(const greeting_block& b, greeting& g) {
    if (detail::get<std::uint32_t>(b.data()) != detail::greeting_magic) return greeting_fault::not_sinter;
    g.major = detail::get<std::uint16_t>(b.data() + 4);
    g.minor = detail::get<std::uint16_t>(b.data() + 6);
    if (!detail::get_text(b, detail::library_field, g.library)) return greeting_fault::malformed;
    if (g.major != protocol_major) return greeting_fault::protocol;
    std::memcpy(g.formats.data(), b.data() + 8, 8);
    g.use = static_cast<purpose>(detail::get<std::uint8_t>(b.data() + 16));
    g.role = detail::get<std::uint8_t>(b.data() + 17);
    g.keyed = detail::get<std::uint8_t>(b.data() + 18) != 0;
    g.index = detail::get<std::int32_t>(b.data() + 20);
    g.rank = detail::get<std::int32_t>(b.data() + 24);
    g.size = detail::get<std::int32_t>(b.data() + 28);
    g.same.model = detail::get<std::uint64_t>(b.data() + 32);
    g.same.layout = detail::get<std::uint64_t>(b.data() + 40);
    g.same.policy = detail::get<std::uint64_t>(b.data() + 48);
    g.incarnation = detail::get<std::uint64_t>(b.data() + 56);
    std::memcpy(g.nonce.data(), b.data() + 64, g.nonce.size());
    const bool fine = g.use >= purpose::control && g.use <= purpose::further && g.size >= 1 && g.rank >= 0 &&
                      g.rank < g.size && detail::get_text(b, detail::job_field, g.job) &&
                      detail::get_text(b, detail::address_field, g.address);
    return fine ? greeting_fault::none : greeting_fault::malformed;
}

/// How far another member's greeting disagrees with one's own.
enum class disagreement : std::uint8_t {
    none,
    other_job,   // of another job, or with a key where there is none: not this job's concern
    member      // of this job, and yet it cannot take part
};

/// Compares what members must share, and explains what differs ("there" is `theirs`).
SINTER_COLD inline disagreement compare(const greeting& own, const greeting& theirs, std::string& reason) {
    const auto differ = [&](const char* what, const text_piece& there, const text_piece& here) {
        reason = to_text({what, " differs: ", there, " there, ", here, " here"});
        return disagreement::member;
    };
    if (own.job != theirs.job) {
        differ("the job's name", to_text({"'", theirs.job, "'"}), to_text({"'", own.job, "'"}));
        return disagreement::other_job;
    }
    if (own.keyed != theirs.keyed) {
        reason = theirs.keyed ? "it has a job key, this process has none" : "it has no job key, this process has one";
        return disagreement::other_job;
    }
    if (own.library != theirs.library) return differ("Sinter's version", theirs.library, own.library);
    if (own.formats != theirs.formats) {
        reason = "its byte order or float format is not this machine's";
        return disagreement::member;
    }
    if (own.size != theirs.size) return differ("the number of members", theirs.size, own.size);
    if (own.same == theirs.same) return disagreement::none;
    reason = difference(own.same, theirs.same);
    return disagreement::member;
}

} // namespace sinter::wire
