// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE lgamma
#include <boost/test/unit_test.hpp>

#include <sinter/ops/lgamma.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.3, high = 9;
    static constexpr tensor apply(tensor a) { return ops::lgamma(a); }
    static double value(double x) { return std::lgamma(x); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::gamma_x, p::lgamma_y, p::lgamma_dx);
}

BOOST_AUTO_TEST_CASE(edges) {
    check_same(at_places_light<op_of>({0., -3., infinity, -infinity, 1., 2., no_number}).y,
               {infinity, infinity, infinity, infinity, 0, 0, no_number});
}
