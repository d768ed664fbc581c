// SPDX-License-Identifier: BSL-1.0
// shows numbers: softmax, cross entropies, CTC, sampled losses and attention at any finite scores
#define BOOST_TEST_MODULE random_categorical
#include <boost/test/unit_test.hpp>

#include <sinter/ops/random_categorical.hpp>

#include "support/draws.hpp"
#include "support/elementwise.hpp"

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

/// Logits of any size: the noise of each class counts, though it is far below a logit's last place.
struct far_from_zero {
    static constexpr tensor apply(tensor a) {
        return ops::random_categorical(a * 1e10f + ops::log(make<op::column_index>(a.g, a.shape().plain(), {}) + 1.f) *
                                                       ops::equal(a, 0.f));
    }
};
BOOST_AUTO_TEST_CASE(large_logits) {
    for (const double size : {0., 1., -1., 1e20, -3e27}) {
        const auto x = draws<far_from_zero, many>(3, 0, size);
        for (int c = 0; c < 4; ++c)
            check_mean(x, size == 0 ? (c + 1) / 10. : 0.25, 0.49, "frequency", [&](double v) { return v == c; });
    }
}
struct not_numbers {
    static constexpr tensor apply(tensor a) {
        const tensor c = make<op::column_index>(a.g, a.shape().plain(), {});
        return ops::random_categorical(ops::where(ops::equal(c, 1.f), a, 0.f * c));
    }
};
struct hidden {
    static constexpr tensor apply(tensor a) { return ops::random_categorical(a * 1.f); }
};
BOOST_AUTO_TEST_CASE(always_a_class) {
    for (const double a : {infinity, -infinity, no_number, 3e38, -3e38})
        for (float v : draws<not_numbers, many>(1, 0, a)) {
            BOOST_REQUIRE((v == 0 || v == 1 || v == 2 || v == 3));
            if (a > 0) BOOST_REQUIRE(v == 1);
            if (a < 0) BOOST_REQUIRE(v != 1);
        }
    for (float v : draws<hidden, many>(1, 0, -infinity)) BOOST_REQUIRE(v == 0);   // all are hidden: the first
}
