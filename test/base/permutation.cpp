// SPDX-License-Identifier: BSL-1.0
// Orders that are permutations, and that look random to the tests that weak ones fail.
#define BOOST_TEST_MODULE permutation
#include <boost/test/unit_test.hpp>
#include <sinter/base/permutation.hpp>
#include <algorithm>
#include <cmath>
#include <map>

using namespace sinter::base;

namespace {

/// By how many standard deviations a chi-square value of so many degrees of freedom lies beside its mean (Wilson and
/// Hilferty, 1931).
double deviations(double chi2, double degrees) {
    const double v = 2 / (9 * degrees);
    return (std::cbrt(chi2 / degrees) - (1 - v)) / std::sqrt(v);
}

/// Of counts that should all be `expected`.
double deviations(const std::vector<int>& counts, double expected) {
    double chi2 = 0;
    for (const int n : counts) chi2 += (n - expected) * (n - expected) / expected;
    return deviations(chi2, static_cast<double>(counts.size()) - 1);
}

constexpr double suspicious = 5;   // one time in a million

/// Of a number's place in the orders of many keys, one number of each, in classes of places.
template <class Permutation>
double uniformity_of_places(std::int64_t n, int orders, std::int64_t classes) {
    std::vector<int> counts(static_cast<std::size_t>(classes));
    const std::int64_t width = n / classes;   // places beyond the last class are not counted
    double counted = 0;
    for (int o = 0; o < orders; ++o) {
        const Permutation order(n, static_cast<std::uint64_t>(o) * 77, o % 3);
        const std::int64_t at = order(o % n);
        if (at < width * classes) ++counts[static_cast<std::size_t>(at / width)], ++counted;
    }
    return deviations(counts, counted / static_cast<double>(classes));
}

/// Of how far apart neighbours in an order are (modulo n, from 1 to n - 1), over the orders of many keys.
template <class Permutation>
double uniformity_of_steps(std::int64_t n, int orders, std::int64_t classes, std::int64_t looked_at) {
    std::vector<int> counts(static_cast<std::size_t>(classes));
    const std::int64_t width = (n - 1) / classes;
    double counted = 0;
    for (int o = 0; o < orders; ++o) {
        const Permutation order(n, static_cast<std::uint64_t>(o) * 77, o % 3);
        std::int64_t at = order(0);
        for (std::int64_t i = 1; i <= looked_at; ++i) {
            const std::int64_t next = order(i), step = (next - at + n) % n - 1;
            if (step < width * classes) ++counts[static_cast<std::size_t>(step / width)], ++counted;
            at = next;
        }
    }
    return deviations(counts, counted / static_cast<double>(classes));
}

} // namespace

BOOST_AUTO_TEST_CASE(each_number_comes_once) {
    std::vector<char> seen;
    for (std::int64_t n = 1; n <= 10'000; n += n < 300 || n > 9'990 ? 1 : 97) {
        const computed_permutation order(n, static_cast<std::uint64_t>(n), 3);
        seen.assign(static_cast<std::size_t>(n), 0);
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t x = order(i);
            BOOST_REQUIRE(0 <= x);
            BOOST_REQUIRE(x < n);
            BOOST_REQUIRE(!std::exchange(seen[static_cast<std::size_t>(x)], 1));
        }
    }
    for (const std::uint32_t n : {1u, 2u, 6u, 1000u}) {
        std::vector<std::uint32_t> order = stored_permutation(n, 5, 0);
        std::sort(order.begin(), order.end());
        for (std::uint32_t i = 0; i < n; ++i) BOOST_REQUIRE(order[i] == i);
    }
    BOOST_TEST(stored_permutation(0, 1, 1).empty());
}

BOOST_AUTO_TEST_CASE(several_at_once_are_the_same) {
    for (const std::int64_t n : {std::int64_t{65}, std::int64_t{1000}, std::int64_t{1} << 40}) {
        const computed_permutation order(n, 1, 2);
        std::int64_t some[64];
        order(n - 64, 64, some);
        for (int i = 0; i < 64; ++i) BOOST_TEST(some[i] == order(n - 64 + i));
    }
}

BOOST_AUTO_TEST_CASE(largest) {
    const std::int64_t n = (std::int64_t{1} << 61) + 12345;
    const computed_permutation order(n, 1, 0);
    for (const std::int64_t i : {std::int64_t{0}, n / 2, n - 1}) {
        BOOST_TEST(order(i) >= 0);
        BOOST_TEST(order(i) < n);
    }
}

BOOST_AUTO_TEST_CASE(another_key_or_pass_is_another_order) {
    const auto first = [](std::uint64_t key, std::int64_t pass) {
        const computed_permutation order(1 << 20, key, pass);
        return std::vector<std::int64_t>{order(0), order(1), order(2), order(3)};
    };
    BOOST_TEST((first(1, 0) == first(1, 0)));
    BOOST_TEST((first(1, 0) != first(2, 0)));
    BOOST_TEST((first(1, 0) != first(1, 1)));
    BOOST_TEST((stored_permutation(100, 1, 0) != stored_permutation(100, 1, 1)));
}

BOOST_AUTO_TEST_CASE(all_orders_of_few_are_equally_likely) {
    for (const std::uint32_t n : {2u, 3u, 4u, 5u, 6u}) {
        std::map<std::vector<std::uint32_t>, int> seen;
        std::size_t orders = 1;
        for (std::uint32_t k = 2; k <= n; ++k) orders *= k;
        const int tries = 100 * static_cast<int>(orders);
        for (int k = 0; k < tries; ++k) ++seen[stored_permutation(n, static_cast<std::uint64_t>(k), k % 5)];
        BOOST_TEST(seen.size() == orders);
        std::vector<int> counts;
        for (const auto& [order, count] : seen) counts.push_back(count);
        BOOST_TEST(std::fabs(deviations(counts, 100)) < suspicious, n);
    }
}

BOOST_AUTO_TEST_CASE(places_and_steps_are_uniform) {
    using order = computed_permutation;
    BOOST_TEST(std::fabs(uniformity_of_places<order>(97, 50'000, 97)) < suspicious);
    BOOST_TEST(std::fabs(uniformity_of_places<order>(1000, 50'000, 500)) < suspicious);
    BOOST_TEST(std::fabs(uniformity_of_places<order>((1 << 20) + 7, 50'000, 100)) < suspicious);
    BOOST_TEST(std::fabs(uniformity_of_steps<order>(97, 8000, 96, 96)) < suspicious);
    BOOST_TEST(std::fabs(uniformity_of_steps<order>(1000, 300, 999, 999)) < suspicious);
    BOOST_TEST(std::fabs(uniformity_of_steps<order>((1 << 20) + 7, 4, 100, 50'000)) < suspicious);
}

// What these tests are worth: they see that four rounds are too few.
BOOST_AUTO_TEST_CASE(four_rounds_are_seen) {
    BOOST_TEST(std::fabs(uniformity_of_steps<permutation_of_rounds<4>>(97, 8000, 96, 96)) > suspicious);
    BOOST_TEST(std::fabs(uniformity_of_steps<permutation_of_rounds<4>>(1000, 3000, 999, 999)) > suspicious);
}
