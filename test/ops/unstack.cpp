// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE unstack
#include <boost/test/unit_test.hpp>

#include <sinter/ops/unstack.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <int Axis>
struct op_of {
    static constexpr shape operands[] = {batch_of(2, 3, 2)};
    static constexpr tensor apply(tensor a) {
        if constexpr (Axis == 1) {
            const auto [x, y, z] = unstack<3>(a, Axis);
            return x * y - z;
        } else {
            const auto [x, y] = unstack<2>(a, Axis);
            return x * x * y;
        }
    }
    static doubles reference(const doubles& a) {
        std::vector<int> d = a.d;
        d.erase(d.begin() + 1 + (Axis + 3) % 3);
        auto piece = [&](int i) {
            return moved(d, a, [&](places at) {
                at.insert(at.begin() + 1 + (Axis + 3) % 3, i);
                return at;
            });
        };
        doubles y(d);
        const doubles p = piece(0), q = piece(1), r = Axis == 1 ? piece(2) : q;
        for (int n = 0; n < y.size(); ++n) y[n] = Axis == 1 ? p[n] * q[n] - r[n] : p[n] * p[n] * q[n];
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<1>, programs::fused_only>();
    check_op<op_of<-1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {   // all of them must be asked for
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return unstack<2>(x); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return unstack<5>(x); }));
}
