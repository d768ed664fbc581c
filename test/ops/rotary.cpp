// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE rotary
#include <boost/test/unit_test.hpp>

#include <complex>

#include <sinter/ops/rotary.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

/// Pairs as complex numbers, times e^(i angle).
template <shape A, int Heads, position_pairs P>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor x) { return rotary(x, {.heads = Heads, .pairs = P, .base = 50}); }
    static doubles reference(const doubles& x) {
        constexpr int T = A.d[0], D = A.size() / (T * Heads);
        doubles y(x.d);
        for (int row = 0; row < x.size() / D; ++row)
            for (int i = 0; i < D / 2; ++i) {
                const int first = row * D + (P == position_pairs::halves ? i : 2 * i),
                          second = P == position_pairs::halves ? first + D / 2 : first + 1;
                const std::complex<double> turned =
                    std::complex(x[first], x[second]) * std::polar(1., row / Heads % T * std::pow(50., -2. * i / D));
                y[first] = turned.real();
                y[second] = turned.imag();
            }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(4, 3, 36), 3, position_pairs::halves>>();
    check_op<op_of<batch_of(5, 12), 2, position_pairs::neighbours>, programs::fused_only>();
}
