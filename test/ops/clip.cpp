// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE clip
#include <boost/test/unit_test.hpp>

#include <sinter/ops/clip.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -2, high = 2;
    static constexpr tensor apply(tensor a) { return ops::clip(a, -0.5f, 0.75f); }
    static double value(double x) { return x < -0.5 ? -0.5 : x > 0.75 ? 0.75 : x; }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }
BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::x, p::clip_y, p::clip_dx);
}

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({-0.5, 0.75, -0.6, 0.8, infinity, -infinity, no_number});
    check_same(r.y, {-0.5, 0.75, -0.5, 0.75, 0.75, -0.5, no_number});
    check_same(r.gradients[0], {0, 0, 0, 0, 0, 0, 1});
}

struct by_tensors {
    static constexpr double low = -2, high = 2;
    static constexpr tensor apply(tensor a, tensor b, tensor c) { return ops::clip(a, b, c); }
    static double value(double x, double b, double c) { return std::min(std::max(x, b), c); }
};
BOOST_AUTO_TEST_CASE(bounds_are_tensors_too) {
    check_op<ternary_case<by_tensors, batch_of(3, 9), extents(9), extents(3, 1)>, programs::fused_only>();
}
