// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE gelu_tanh
#include <boost/test/unit_test.hpp>

#include <sinter/ops/gelu_tanh.hpp>

#include "fixtures/pytorch_activations.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -4, high = 4;
    static constexpr tensor apply(tensor a) { return ops::gelu_tanh(a); }
    static double value(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary_light<op_of>(); }

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch_activations;
    check_at<op_of>(p::x, p::gelu_tanh_y, p::gelu_tanh_dx);
}

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places_light<op_of>({20., -20., no_number});
    check_same(r.y, {20, 0, no_number});
}
