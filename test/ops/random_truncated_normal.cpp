// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE random_truncated_normal
#include <boost/test/unit_test.hpp>

#include <sinter/ops/random_truncated_normal.hpp>

#include "support/draws.hpp"

using namespace sinter;
using namespace sinter::test;

struct truncated {
    static constexpr tensor apply(tensor a) { return ops::random_truncated_normal(a); }
};
constexpr shape many = batch_of(3, 700);
BOOST_AUTO_TEST_CASE(looks_normal_within_two) {
    const auto x = draws<truncated, many>(1, 0);
    for (float v : x) BOOST_REQUIRE(std::abs(v) <= 2.00001f);
    check_mean(x, 0, 0.88, "mean", [](double v) { return v; });
    check_mean(x, 0.7741, 0.9, "variance", [](double v) { return v * v; });   // 1 - 4 density(2) / 0.9545
    check_mean(x, 0.3413447 / 0.9544997, 0.48, "fraction in 0..1", [](double v) { return v > 0 && v < 1; });
}
BOOST_AUTO_TEST_CASE(the_same_again) { check_reproducible<truncated, many>(); }
