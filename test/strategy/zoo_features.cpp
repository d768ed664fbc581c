// SPDX-License-Identifier: BSL-1.0
// needs: distributed
// processors: 2
// weighs: 4
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>

#include "support/same_under_strategies.hpp"

// The nets for tables, narrower, under strategies: as on one device. Without dropout, which depends
// on how batches are cut.
using namespace sinter;
using namespace sinter::test;

namespace {

constexpr auto classification = inputs(features<20>, indices<1>)
    >> [](tensor numbers, tensor occupation) {
           return concat(numbers, flatten(embedding<16, 4>(occupation)));
       }
    >> dense<16> >> relu >> dense<8> >> relu >> dense<2>;
constexpr auto regression = features<20> >> dense<16> >> relu >> dense<8> >> relu >> dense<1>;
constexpr auto logistic = features<20> >> dense<2>;

/// An activation and a gate of one's own (custom_op).
constexpr auto lisht = elementwise([](scalar x) { return x * tanh(x); });
constexpr auto gate = elementwise([](scalar value, scalar control) { return value / (1.f + exp(-control)); });
constexpr auto gated = features<20>
    >> dense<16> >> lisht
    >> [](tensor x) { return gate(dense<8>(x), dense<8>(x)); }
    >> dense<5>;

} // namespace

BOOST_AUTO_TEST_CASE(csv_classification) {
    constexpr momentum o{.learning_rate = 0.05f};
    check_under_strategies("classification", trainers_of(classification, softmax_cross_entropy, o), default_strategy{});
}
BOOST_AUTO_TEST_CASE(csv_regression) {
    constexpr adamw o{.learning_rate = 1e-3f, .epsilon = 1e-4f};
    check_under_strategies("regression", trainers_of(regression, mse, o), default_strategy{});
}
BOOST_AUTO_TEST_CASE(logistic_regression) {
    constexpr sgd o{.learning_rate = 0.1f};
    check_under_strategies("logistic", trainers_of(logistic, softmax_cross_entropy, o), default_strategy{});
}
BOOST_AUTO_TEST_CASE(operations_of_ones_own) {
    constexpr momentum o{.learning_rate = 0.02f};
    check_under_strategies("gated", trainers_of(gated, softmax_cross_entropy, o), default_strategy{});
}
