// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE glu
#include <boost/test/unit_test.hpp>

#include <sinter/ops/glu.hpp>

#include "support/elementwise.hpp"

using namespace sinter;
using namespace sinter::test;

template <int Axis>
struct halves {
    static constexpr shape operands[] = {batch_of(3, 4, 6)};
    static constexpr tensor apply(tensor a) { return ops::glu(a, Axis); }
    static doubles reference(const doubles& a) {
        const int axis = Axis < 0 ? Axis + 4 : Axis + 1;   // with the batch
        std::vector<int> d = a.d;
        d[static_cast<std::size_t>(axis)] /= 2;
        doubles y(d);
        for (int i = 0; i < y.size(); ++i) {
            auto at = y.where(i);
            const double first = a.at(at);
            at[static_cast<std::size_t>(axis)] += d[static_cast<std::size_t>(axis)];
            y[i] = first / (1 + std::exp(-a.at(at)));
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(last_axis) { check_op<halves<-1>>(); }
BOOST_AUTO_TEST_CASE(middle_axis) { check_op<halves<1>, programs::fused_only>(); }
