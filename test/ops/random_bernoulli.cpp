// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE random_bernoulli
#include <boost/test/unit_test.hpp>

#include <sinter/ops/random_bernoulli.hpp>

#include "support/draws.hpp"

using namespace sinter;
using namespace sinter::test;

struct coin {
    static constexpr tensor apply(tensor a) { return ops::random_bernoulli(a); }
};
constexpr shape many = batch_of(3, 700);
BOOST_AUTO_TEST_CASE(as_often_as_it_should) {
    for (const double p : {0.1, 0.75}) {
        const auto x = draws<coin, many>(1, 0, p);
        for (float v : x) BOOST_REQUIRE((v == 0 || v == 1));
        check_mean(x, p, std::sqrt(p * (1 - p)), "mean", [](double v) { return v; });
    }
    for (float v : draws<coin, many>(1, 0, 1.)) BOOST_REQUIRE(v == 1);
    for (float v : draws<coin, many>(1, 0, 0.)) BOOST_REQUIRE(v == 0);
}
BOOST_AUTO_TEST_CASE(the_same_again) { check_reproducible<coin, many>(0.5); }
