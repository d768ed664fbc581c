// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE stack
#include <boost/test/unit_test.hpp>

#include <sinter/ops/stack.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <int Axis>
struct op_of {
    static constexpr shape operands[] = {batch_of(2, 3), batch_of(2, 3), batch_of(2, 3)};
    static constexpr tensor apply(tensor a, tensor b, tensor c) { return stack({a, b, c, a * b}, Axis); }
    static doubles reference(const doubles& a, const doubles& b, const doubles& c) {
        const doubles ab = map(a, b, [](double x, double y) { return x * y; }), *of[] = {&a, &b, &c, &ab};
        const int axis = 1 + (Axis < 0 ? Axis + 3 : Axis);
        places d = a.d;
        d.insert(d.begin() + axis, 4);
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            places at = y.where(n);
            const int which = at[axis];
            at.erase(at.begin() + axis);
            y[n] = of[which]->at(at);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<0>, programs::fused_only>();
    check_op<op_of<-1>, programs::fused_only>();
}
