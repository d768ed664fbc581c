// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE probit
#include <boost/test/unit_test.hpp>

#include <sinter/ops/probit.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr double low = 0.01, high = 0.99;
    static constexpr tensor apply(tensor a) { return ops::probit(a); }
    /// By halving: where the distribution function is x.
    static double value(double x) {
        double below = -40, above = 40;
        for (int i = 0; i < 100; ++i) {
            const double y = (below + above) / 2;
            (std::erfc(-y / std::sqrt(2.)) / 2 < x ? below : above) = y;
        }
        return below;
    }
};
struct squared : op_of {   // an input times a parameter would leave (0, 1)
    static constexpr shape operands[] = {extents(37)};
    static doubles reference(const doubles& a) { return map(a, value); }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<squared, programs::fused_only>(); }
BOOST_AUTO_TEST_CASE(tails_and_edges) {
    const double x[] = {1e-7, 1e-4, 0.0013, 0.0014, 0.5, 0.9999, 1 - 0x1p-20};
    const auto r = at_places<op_of>(x);
    for (std::size_t i = 0; i < 7; ++i) {
        const double want = op_of::value(static_cast<double>(static_cast<float>(x[i])));
        BOOST_TEST(std::abs(r.y[i] - want) <= 2e-6 * std::max(1., std::abs(want)),
                   x[i] << " gives " << r.y[i] << ", not " << want);
    }
    const double edges[] = {0, 1, -0.5, 1.5, NAN};
    check_same(at_places<op_of>(edges).y, {-infinity, infinity, no_number, no_number, no_number});
}
