// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE random_categorical
#include <boost/test/unit_test.hpp>

#include <sinter/ops/random_categorical.hpp>

#include "support/draws.hpp"

using namespace sinter;
using namespace sinter::test;

/// Four classes with logarithms of 1, 2, 3, 4 as logits.
struct classes {
    static constexpr tensor apply(tensor a) {
        return ops::random_categorical(a + ops::log(make<op::column_index>(a.g, a.shape().plain(), {}) + 1.f));
    }
};
constexpr shape many = batch_of(400, 4);
BOOST_AUTO_TEST_CASE(as_often_as_their_probabilities) {
    const auto x = draws<classes, many>(1, 0);
    BOOST_REQUIRE_EQUAL(x.size(), 2000u);
    for (float v : x) BOOST_REQUIRE((v == 0 || v == 1 || v == 2 || v == 3));
    for (int c = 0; c < 4; ++c) check_mean(x, (c + 1) / 10., 0.49, "frequency", [&](double v) { return v == c; });
}
BOOST_AUTO_TEST_CASE(the_same_again) { check_reproducible<classes, many>(); }
