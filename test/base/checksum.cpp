// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE checksum
#include <boost/test/unit_test.hpp>
#include <sinter/base/checksum.hpp>
#include <sinter/base/hash.hpp>
#include <string_view>
#include <vector>
using namespace sinter;

BOOST_AUTO_TEST_CASE(checksums_are_those_of_the_specification) {   // its test vectors
    const auto of = [](std::string_view s, std::uint64_t seed = 0) { return base::checksum::of(as_bytes(s), seed); };
    BOOST_TEST(of("") == 0xEF46DB3751D8E999u);
    BOOST_TEST(of("a") == 0xD24EC4F1A98C6E5Bu);
    BOOST_TEST(of("abc") == 0x44BC2CF5AD770999u);
    // The specification's sanity buffer: bytes of a generator, seeds 0 and 2654435761.
    std::vector<std::byte> sanity;
    for (std::uint64_t g = 2654435761u, i = 0; i < 222; ++i, g *= 11400714785074694797u)
        sanity.push_back(static_cast<std::byte>(g >> 56));
    const auto first = [&](std::size_t n, std::uint64_t seed) {
        return base::checksum::of(span<const std::byte>(sanity).first(n), seed);
    };
    BOOST_TEST(first(1, 0) == 0xE934A84ADB052768u);
    BOOST_TEST(first(1, 2654435761u) == 0x5014607643A9B4C3u);
    BOOST_TEST(first(4, 0) == 0x9136A0DCA57457EEu);
    BOOST_TEST(first(14, 0) == 0x8282DCC4994E35C8u);
    BOOST_TEST(first(14, 2654435761u) == 0xC3BD6BF63DEB6DF0u);
    BOOST_TEST(first(222, 0) == 0xB641AE8CB691C174u);
    BOOST_TEST(first(222, 2654435761u) == 0x20CB8AB7AE10C14Au);
    std::vector<std::byte> b;   // pieces make no difference
    for (std::uint64_t i = 0; i < 1000; ++i) b.push_back(static_cast<std::byte>(i * 0x9E3779B97F4A7C15u >> 56));
    for (std::size_t cut = 0; cut <= 200; ++cut) {
        base::checksum c(7);
        c.update(span<const std::byte>(b).first(cut));
        c.update(span<const std::byte>(b).subspan(cut, 100));
        c.update(span<const std::byte>(b).subspan(cut + 100));
        BOOST_REQUIRE(c.value() == base::checksum::of(b, 7));
    }
}

BOOST_AUTO_TEST_CASE(names_hash_as_in_the_draft) {   // draft-eastlake-fnv, its test vectors
    BOOST_TEST(base::fnv1a("") == 0xcbf29ce484222325u);
    BOOST_TEST(base::fnv1a("a") == 0xaf63dc4c8601ec8cu);
    BOOST_TEST(base::fnv1a("foobar") == 0x85944171f73967e8u);
}
