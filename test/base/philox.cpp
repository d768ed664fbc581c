// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE philox
#include <boost/test/unit_test.hpp>
#include <sinter/base/hash.hpp>
#include <sinter/base/philox.hpp>
#include <cmath>
#include <vector>

using namespace sinter;
using namespace sinter::base;

// Known answers published with Random123 (kat_vectors, philox4x32 10).
static_assert(philox4x32({{0, 0, 0, 0}}, 0) ==
              philox_block{{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}});
static_assert(philox4x32({{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}}, 0xffffffffffffffffu) ==
              philox_block{{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}});
static_assert(philox4x32({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0x299f31d0a4093822u) ==
              philox_block{{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}});

// FNV-1a test vectors of the IETF draft.
static_assert(fnv1a("") == 0xcbf29ce484222325u);
static_assert(fnv1a("a") == 0xaf63dc4c8601ec8cu);
static_assert(fnv1a("foobar") == 0x85944171f73967e8u);

static_assert(uniform(0u) == 0.0f && uniform(0xffffffffu) < 1.0f && uniform(0x80000000u) == 0.5f);
static_assert(stream(1, fnv1a("a")) != stream(2, fnv1a("a")) && stream(1, fnv1a("a")) != stream(1, fnv1a("b")));

BOOST_AUTO_TEST_CASE(a_stream_is_its_blocks_in_order) {
    random_stream random(7, 3);
    for (std::uint64_t block = 0; block < 5; ++block)
        for (std::uint32_t expected : philox4x32({{static_cast<std::uint32_t>(block), 0, 3, 0}}, 7).word)
            BOOST_TEST(random.word() == expected);
}

BOOST_AUTO_TEST_CASE(bounded_integers_are_uniform) {
    random_stream random(stream(11, fnv1a("dice")));
    std::vector<int> seen(6);
    for (int i = 0; i < 60000; ++i) ++seen[random.below(6)];
    double chi2 = 0;
    for (int n : seen) chi2 += (n - 10000.0) * (n - 10000.0) / 10000.0;
    BOOST_TEST(chi2 < 20.5);   // 5 degrees of freedom: exceeded once in 1000 seeds, and this seed is fixed
    for (int i = 0; i < 100; ++i) BOOST_TEST(random.below(1) == 0u);
}

BOOST_AUTO_TEST_CASE(rejection_leaves_no_bias_for_large_bounds) {
    // With n = 3 * 2^30 a plain multiply-shift would return multiples of 3 twice as often.
    random_stream random(5);
    int multiples = 0;
    for (int i = 0; i < 30000; ++i) multiples += random.below(3u << 30) % 3 == 0;
    BOOST_TEST(std::abs(multiples - 10000) < 330);   // four standard deviations
}

BOOST_AUTO_TEST_CASE(normal_numbers_have_the_right_moments) {
    double sum = 0, squares = 0, fourth = 0;
    const int n = 40000;
    random_stream random(stream(3, fnv1a("normal")));
    for (int i = 0; i < n; ++i) {
        const double x = random.normal();
        BOOST_REQUIRE(std::isfinite(x));
        sum += x, squares += x * x, fourth += x * x * x * x;
    }
    BOOST_TEST(std::abs(sum / n) < 0.02);
    BOOST_TEST(std::abs(squares / n - 1) < 0.03);
    BOOST_TEST(std::abs(fourth / n - 3) < 0.25);
    BOOST_TEST(std::isfinite(normal(0xffffffffu, 0u).first));
    BOOST_TEST(normal(0u, 0u).first == 0.0f);
}
