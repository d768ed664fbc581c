// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE mish
#include <boost/test/unit_test.hpp>

#include <sinter/ops/mish.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -4, high = 4;
    static constexpr tensor apply(tensor a) { return ops::mish(a); }
    static double value(double x) { return x * std::tanh(std::log1p(std::exp(x))); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::x, p::mish_y, p::mish_dx);
}

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places_light<op_of>({30., -200., no_number});
    check_same(r.y, {30, 0, no_number});
}
