// SPDX-License-Identifier: BSL-1.0
// once: a formula of its own in kernels that other tests share
#define BOOST_TEST_MODULE gelu
#include <boost/test/unit_test.hpp>

#include <sinter/ops/gelu.hpp>

#include "fixtures/pytorch_ops.hpp"
#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = -4, high = 4;
    static constexpr tensor apply(tensor a) { return ops::gelu(a); }
    static double value(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.))); }
};

BOOST_AUTO_TEST_CASE(values_and_gradients) { check_unary<op_of>(); }

BOOST_AUTO_TEST_CASE(far_out) {
    const op_result r = at_places<op_of>({0., 20., -20., no_number});
    check_same(r.y, {0, 20, 0, no_number});
    check_same(r.gradients[0], {0.5, 1, 0, no_number});
}

BOOST_AUTO_TEST_CASE(as_pytorch) {
    namespace p = fixture::pytorch;
    constexpr int n = sizeof(p::gelu_x) / sizeof(double);
    const op_result r = at_places<op_of>(p::gelu_x);
    check_close(r.y, doubles({n}, std::vector<double>(p::gelu_erf_y, p::gelu_erf_y + n)), 1e-6, "value");
    check_close(r.gradients[0], doubles({n}, std::vector<double>(p::gelu_erf_dx, p::gelu_erf_dx + n)), 1e-6,
                "gradient");
}
