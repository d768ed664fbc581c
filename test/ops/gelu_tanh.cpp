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

/// Where 1 + tanh has none left in float32.
BOOST_AUTO_TEST_CASE(digits_far_below) {
    constexpr double x[] = {-2.5, -4, -5.5, -7, -8.5, -9.75};
    const op_result r = at_places_light<op_of>(x);
    for (std::size_t i = 0; i < std::size(x); ++i) {
        const double v = x[i], a = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v), s = 1 / (1 + std::exp(-2 * a));
        BOOST_TEST(std::abs(r.y[i] / (v * s) - 1) <= 1e-5);
        const double slope = s + v * s * (1 - s) * 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * v * v);
        BOOST_TEST(std::abs(r.gradients[0][i] / slope - 1) <= 2e-5);
    }
}

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places_light<op_of>({20., -20., no_number});
    check_same(r.y, {20, 0, no_number});
}
