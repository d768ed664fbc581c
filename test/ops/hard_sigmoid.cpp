// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE hard_sigmoid
#include <boost/test/unit_test.hpp>

#include <sinter/ops/hard_sigmoid.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -5, high = 5;
    static constexpr tensor apply(tensor a) { return ops::hard_sigmoid(a); }
    static double value(double x) { return std::min(std::max(x / 6 + 0.5, 0.), 1.); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::x, p::hard_sigmoid_y, p::hard_sigmoid_dx);
}

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places_light<op_of>({3., -3., infinity, -infinity, no_number});
    check_same(r.y, {1, 0, 1, 0, no_number});
    check_same(r.gradients[0], {0, 0, 0, 0, static_cast<double>(1.f / 6.f)});
}
