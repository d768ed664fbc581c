// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE selu
#include <boost/test/unit_test.hpp>

#include <sinter/ops/selu.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -3, high = 3;
    static constexpr tensor apply(tensor a) { return ops::selu(a); }
    static double value(double x) {
        return 1.0507009873554804934 * (x > 0 ? x : 1.6732632423543772848 * std::expm1(x));
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::x, p::selu_y, p::selu_dx);
}

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places_light<op_of>({infinity, no_number});
    check_same(r.y, {infinity, no_number});
}
