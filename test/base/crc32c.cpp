// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE crc32c
#include <boost/test/unit_test.hpp>
#include <sinter/base/crc32c.hpp>
#include <string>
#include <vector>
using namespace sinter;

namespace {
/// As the polynomial is divided by hand: bit by bit.
std::uint32_t by_bits(span<const std::byte> bytes, std::uint32_t before = 0) {
    std::uint32_t crc = ~before;
    for (const std::byte b : bytes) {
        crc ^= std::to_integer<std::uint32_t>(b);
        for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
    }
    return ~crc;
}
std::vector<std::byte> some_bytes(std::size_t n) {
    std::vector<std::byte> b;
    for (std::uint64_t i = 0; i < n; ++i) b.push_back(static_cast<std::byte>(i * 0x9E3779B97F4A7C15u >> 56));
    return b;
}
/// By what this processor has, whether crc32c() takes it for so many bytes or not.
std::vector<std::uint32_t> by_instructions([[maybe_unused]] span<const std::byte> bytes,
                                           [[maybe_unused]] std::uint32_t before = 0) {
    std::vector<std::uint32_t> all;
#if defined(__x86_64__)
    using namespace base::detail;
    if (has_crc32c_instructions()) all.push_back(crc32c_by_instructions(bytes, before));
    if (has_wide_products() && bytes.size() >= 256) all.push_back(crc32c_by_wide_products(bytes, before));
#endif
    return all;
}
void both_are(std::string_view bytes, std::uint32_t crc) {
    BOOST_TEST(base::crc32c(as_bytes(bytes)) == crc);
    BOOST_TEST(base::detail::crc32c_by_tables(as_bytes(bytes)) == crc);
}
} // namespace

BOOST_AUTO_TEST_CASE(vectors_of_rfc_3720) {   // appendix B.4
    std::string rising, falling;
    for (int i = 0; i < 32; ++i) {
        rising += static_cast<char>(i);
        falling += static_cast<char>(31 - i);
    }
    both_are(std::string(32, '\0'), 0x8a9136aau);
    both_are(std::string(32, '\xff'), 0x62a8ab43u);
    both_are(rising, 0x46dd794eu);
    both_are(falling, 0x113fdb5cu);
    const unsigned char read_command[48] = {0x01, 0xc0, 0, 0, 0,    0, 0, 0, 0,    0, 0, 0, 0, 0, 0,    0,
                                            0x14, 0,    0, 0, 0,    0, 4, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                            0x28, 0,    0, 0, 0,    0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0,    0};
    both_are({reinterpret_cast<const char*>(read_command), sizeof read_command}, 0xd9963a56u);
}

BOOST_AUTO_TEST_CASE(the_usual_check) {
    both_are("", 0);
    both_are("123456789", 0xe3069283u);
    BOOST_TEST(base::mask_crc32c(0xe3069283u) == 0xc78ab0e5u);
    BOOST_TEST(base::masked_crc32c(as_bytes(std::string_view("123456789"))) == 0xc78ab0e5u);
    BOOST_TEST(base::crc32c({}) == 0u);   // without an address
}

// Lengths around those at which the ways to compute it change: 8, 64, 256, 3 x 128, 1024, 3 x 2048 bytes.
BOOST_AUTO_TEST_CASE(all_lengths_and_places) {
    BOOST_TEST_MESSAGE("instructions: " << base::detail::has_crc32c_instructions());
    const std::vector<std::byte> b = some_bytes(20'000);
    const span<const std::byte> all(b);
    std::vector<std::size_t> lengths;
    for (std::size_t n = 0; n < 140; ++n) lengths.push_back(n);
    for (const std::size_t edge : {256u, 320u, 384u, 512u, 768u, 1024u, 1088u, 6144u, 6528u, 12288u, 13000u})
        for (std::size_t n = edge - 9; n <= edge + 9; ++n) lengths.push_back(n);
    for (const std::size_t n : lengths) {
        const auto part = all.subspan(n % 13, n);
        const std::uint32_t crc = by_bits(part);
        BOOST_REQUIRE(base::crc32c(part) == crc);
        BOOST_REQUIRE(base::detail::crc32c_by_tables(part) == crc);
        for (const std::uint32_t other : by_instructions(part)) BOOST_REQUIRE(other == crc);
    }
}

BOOST_AUTO_TEST_CASE(pieces_make_no_difference) {
    const std::vector<std::byte> b = some_bytes(9'000);
    const span<const std::byte> all(b);
    const std::uint32_t whole = base::crc32c(all);
    for (std::size_t cut = 0; cut <= all.size(); cut += cut < 50 ? 1 : 631) {
        BOOST_REQUIRE(base::crc32c(all.subspan(cut), base::crc32c(all.first(cut))) == whole);
        BOOST_REQUIRE(base::detail::crc32c_by_tables(all.subspan(cut),
                                                     base::detail::crc32c_by_tables(all.first(cut))) == whole);
        for (const std::uint32_t other : by_instructions(all.subspan(cut), by_bits(all.first(cut))))
            BOOST_REQUIRE(other == whole);
    }
}
