// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE random_normal
#include <boost/test/unit_test.hpp>

#include <sinter/ops/random_normal.hpp>

#include "support/draws.hpp"

using namespace sinter;
using namespace sinter::test;

struct gaussian {
    static constexpr tensor apply(tensor a) { return ops::random_normal(a); }
};
constexpr shape many = batch_of(3, 700);
BOOST_AUTO_TEST_CASE(looks_normal) {
    const auto x = draws<gaussian, many>(1, 0);
    check_mean(x, 0, 1, "mean", [](double v) { return v; });
    check_mean(x, 1, std::sqrt(2.), "variance", [](double v) { return v * v; });
    check_mean(x, 0, std::sqrt(15.), "third moment", [](double v) { return v * v * v; });
    check_mean(x, 3, std::sqrt(96.), "fourth moment", [](double v) { return v * v * v * v; });
    for (const double at : {-2., -1., -0.3, 0.5, 1.5}) {
        const double p = std::erfc(-at / std::sqrt(2.)) / 2;
        check_mean(x, p, std::sqrt(p * (1 - p)), "fraction below", [&](double v) { return v < at; });
    }
}
BOOST_AUTO_TEST_CASE(the_same_again) { check_reproducible<gaussian, many>(); }
