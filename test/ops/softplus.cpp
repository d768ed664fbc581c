// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE softplus
#include <boost/test/unit_test.hpp>

#include <sinter/ops/softplus.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -6, high = 6;
    static constexpr tensor apply(tensor a) { return ops::softplus(a); }
    static double value(double x) { return std::log1p(std::exp(x)); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::x, p::softplus_y, p::softplus_dx);
}

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({100., -200., infinity, -infinity, no_number});
    check_same(r.y, {100, 0, infinity, 0, no_number});
    check_same(r.gradients[0], {1, 0, 1, 0, no_number});
}

struct sharper {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::softplus(a, 4.f); }
    static double value(double x) { return std::log1p(std::exp(4 * x)) / 4; }
};
BOOST_AUTO_TEST_CASE(with_beta) { check_unary_light<sharper>(); }
