// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE digamma
#include <boost/test/unit_test.hpp>

#include <sinter/ops/digamma.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.3, high = 9;
    static constexpr tensor apply(tensor a) { return ops::digamma(a); }
    static double value(double x) { return (std::lgamma(x + 1e-5) - std::lgamma(x - 1e-5)) / 2e-5; }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>({.gradient = 1e-3, .step = 1e-2}); }

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::gamma_x, p::digamma_y, p::digamma_dx);
}

BOOST_AUTO_TEST_CASE(edges) {
    check_same(at_places_light<op_of>({0., -0., -3., infinity, -infinity, no_number}).y,
               {-infinity, infinity, no_number, infinity, no_number, no_number});
}
