// SPDX-License-Identifier: BSL-1.0
// one thread: functions of bytes alone
#define BOOST_TEST_MODULE payload_checksum
#include <boost/test/unit_test.hpp>
#include <sinter/net/payload_checksum.hpp>
#include <random>
#include <vector>
using namespace sinter;

namespace {

std::vector<std::byte> some_bytes(std::size_t n) {
    std::vector<std::byte> b;
    for (std::uint64_t i = 0; i < n; ++i) b.push_back(static_cast<std::byte>(i * 0x9E3779B97F4A7C15u >> 56));
    return b;
}
std::uint64_t of(span<const std::byte> b, std::uint64_t seed) { return wire::payload_checksum::of(b, seed); }

}   // namespace

// Numbers of the reference implementation: xxhash.xxh3_64_intdigest(b[:n], seed=seed) of Python's xxhash 4.1, where
// b = bytes(((i * 0x9E3779B97F4A7C15) % 2**64) >> 56 for i in range(5000)).
BOOST_AUTO_TEST_CASE(long_ones_are_xxh3) {
    struct vector { std::size_t n; std::uint64_t plain, seeded; };
    constexpr vector all[] = {
        {241, 0x2D431E984C441F15u, 0x88BA661642410E88u}, {255, 0x6CB5279BB1267B3Bu, 0x4B0BBCB8F788E34Eu},
        {256, 0x1369AAF85F8B805Au, 0x2971269051CE3AF1u}, {257, 0x53D08D96173615DEu, 0xE18FBDD688DCD1F9u},
        {320, 0xF725DB88132AE753u, 0x40148CE58B131198u}, {1024, 0xE99DEF1145F12936u, 0x423D9C20B9B31DC9u},
        {1025, 0x83CBA9B371E4E7F4u, 0xD2C61483B2E65E5Du}, {1088, 0x8E7E69B3A7124813u, 0xCCB570A62BC580BDu},
        {2048, 0x94561143EC4ADF47u, 0xB183A59048E8143Fu}, {5000, 0x539BED6E999EB2ADu, 0x305874EC283ADE95u}};
    const std::vector<std::byte> b = some_bytes(5000);
    for (const vector& v : all) {
        BOOST_TEST(of(span<const std::byte>(b).first(v.n), 0) == v.plain);
        BOOST_TEST(of(span<const std::byte>(b).first(v.n), 2654435761u) == v.seeded);
    }
}

BOOST_AUTO_TEST_CASE(short_ones_are_xxh64) {
    const std::vector<std::byte> b = some_bytes(240);
    for (std::size_t n = 0; n <= 240; ++n) {
        const auto first = span<const std::byte>(b).first(n);
        BOOST_TEST(of(first, 7) == base::checksum::of(first, 7));
    }
}

BOOST_AUTO_TEST_CASE(pieces_make_no_difference) {
    const std::vector<std::byte> b = some_bytes(5000);
    std::mt19937 random(3);
    for (const std::size_t n : {200u, 241u, 256u, 257u, 320u, 321u, 1024u, 1088u, 1089u, 2048u, 4999u})
        for (const std::size_t most : {1u, 10u, 64u, 65u, 300u, 3000u}) {
            wire::payload_checksum c(5);
            for (std::size_t at = 0; at < n;) {
                const std::size_t some = std::min<std::size_t>(n - at, 1 + random() % most);
                c.update(span<const std::byte>(b).subspan(at, some));
                at += some;
            }
            BOOST_TEST(c.value() == of(span<const std::byte>(b).first(n), 5));
            BOOST_TEST(c.value() == c.value());   // asking changes nothing
        }
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_found) {
    std::vector<std::byte> b = some_bytes(1300);
    const std::uint64_t whole = of(b, 1);
    for (std::size_t bit = 0; bit < 8 * b.size(); ++bit) {
        b[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        BOOST_TEST_REQUIRE(of(b, 1) != whole);
        b[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
}
