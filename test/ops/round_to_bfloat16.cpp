// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE round_to_bfloat16
#include <boost/test/unit_test.hpp>

#include <sinter/kernel/scalar_arithmetic.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/ops/round_to_bfloat16.hpp>

#include <bit>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

struct op_of {
    static constexpr tensor apply(tensor a) { return ops::round_to_bfloat16(a); }
    static double value(double x) { return x; }
};

BOOST_AUTO_TEST_CASE(edges) {
    const op_result r = at_places_light<op_of>({1 + 0x1p-8, 1 + 0x3p-8, -1 - 0x1p-8, 1 + 0x1p-8 + 0x1p-23, -0., 0.,
                                                0x1.fep127, 0x1.fefffep127, 0x1.ffp127, -0x1.fffffep127, infinity,
                                                -infinity, no_number, 3.14159265});
    check_same(r.y, {1, 1 + 0x1p-6, -1, 1 + 0x1p-7, -0., 0., 0x1.fep127, 0x1.fep127, infinity, -infinity, infinity,
                     -infinity, no_number, 3.140625});
    BOOST_TEST((std::signbit(r.y[4]) && !std::signbit(r.y[5])));
    check_same(r.gradients[0], std::vector<double>(14, 1));   // passed as it is
}

/// The nearest of the two neighbours that bfloat16 has, found among numbers and not among bits.
static double nearest(float x) {
    if (!std::isfinite(x)) return static_cast<double>(x);
    const double size = std::abs(static_cast<double>(x)),
        step = std::ldexp(1., std::max(std::ilogb(size == 0 ? 1. : size), -126) - 7);
    const double y = std::nearbyint(size / step) * step;   // halves to even
    return std::copysign(y >= 0x1p128 ? infinity : y, static_cast<double>(x));
}
BOOST_AUTO_TEST_CASE(all_exponents_and_both_forms) {
    for (std::uint32_t high = 0; high < 65536; ++high)
        for (std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
            const float x = std::bit_cast<float>(high << 16 | low), y = arithmetic<float>::round_to_bfloat16(x);
            const cpu::vf v = arithmetic<cpu::vf>::round_to_bfloat16(cpu::splat(x));
            const float first = v[0], last = v[cpu::lanes - 1];
            const bool same = std::isnan(x) ? std::isnan(y)
                : static_cast<double>(y) == nearest(x) && std::signbit(y) == std::signbit(x);
            if (!same || std::memcmp(&first, &y, 4) || std::memcmp(&last, &y, 4) ||
                std::bit_cast<std::uint32_t>(y) << 16)
                BOOST_ERROR(std::hexfloat << x << " becomes " << y << " and " << first);
        }
}

struct of_weights {   // as they lie, in the kernels' own layout
    static constexpr shape operands[] = {extents(1, 3), packed(extents(3, 4))};
    static constexpr tensor apply(tensor x, tensor w) { return ops::matmul(x, ops::round_to_bfloat16(w)); }
};
BOOST_AUTO_TEST_CASE(weights_stay_packed) {
    const op_result r = run_op<of_weights>({doubles({1, 3}, {1, 2, 3}), doubles({3, 4}, std::vector<double>(12, 0.1))});
    BOOST_TEST(r.y == std::vector<float>(4, 6 * 0.10009765625f), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[1] == (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}),
               boost::test_tools::per_element());
}

struct its_slope {   // of the square: twice the rounded number
    static constexpr shape operands[] = {extents(2)};
    static constexpr tensor apply(tensor a) {
        const tensor y = ops::round_to_bfloat16(a);
        return ops::gradient(y * y, a);
    }
};
BOOST_AUTO_TEST_CASE(gradients_of_gradients) {
    const op_result r = run_op<its_slope>({doubles({2}, {0.1, -3})});
    BOOST_TEST(r.y == (std::vector<float>{2 * 0.10009765625f, -6}), boost::test_tools::per_element());
    BOOST_TEST(r.gradients[0] == (std::vector<float>{2, 2}), boost::test_tools::per_element());
}
