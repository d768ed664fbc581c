// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE gather_rows
#include <boost/test/unit_test.hpp>

#include <sinter/ops/gather_rows.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
template <shape I, int V, int E, bool Packed = false>
struct op_of {
    static constexpr shape operands[] = {whole(I), Packed ? packed(extents(V, E)) : extents(V, E)};
    static constexpr double low = -1, high = V;   // of the indices too: with so few rows most occur more than once
    static constexpr tensor apply(tensor i, tensor t) { return gather_rows(t, i) * 0.5f; }
    static doubles reference(const doubles& i, const doubles& t) {
        auto d = i.d;
        d.push_back(E);
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) y[n] = t[static_cast<int>(i[n / E]) * E + n % E] / 2;
        return y;
    }
};
constexpr shape drawn_table = drawn(4, 2);
BOOST_AUTO_TEST_CASE(values_and_gradients) {   // updated in place, only the rows that occur are touched
    check_op<op_of<batch_of(4), 5, 3>>();
    check_op<op_of<batch_of(), drawn_table.d[0], drawn_table.d[1]>>();
    check_op<op_of<drawn_batch(1, 2), 50, 1>, programs::fused_only>();
    // a table in the kernels' own layout
    check_op<op_of<drawn_batch(2, 1), drawn_table.d[0], drawn_table.d[1], true>, programs::fused_only>();
}

struct twice {   // the same table read in two places, and by something else: its gradient is spelled out
    static constexpr shape operands[] = {whole(batch_of(2)), whole(batch_of(3)), extents(5, 4)};
    static constexpr double low = -1, high = 5;
    static constexpr tensor apply(tensor i, tensor j, tensor t) {
        return sum(gather_rows(t, i), {0}) * sum(gather_rows(t * t, j), {0}) + sum(t, {0});
    }
    static doubles reference(const doubles& i, const doubles& j, const doubles& t) {
        doubles y({i.d[0], 4});
        for (int n = 0; n < i.d[0]; ++n)
            for (int e = 0; e < 4; ++e) {
                double a = 0, b = 0, c = 0;
                for (int k = 0; k < 2; ++k) a += t[static_cast<int>(i[2 * n + k]) * 4 + e];
                for (int k = 0; k < 3; ++k) b += std::pow(t[static_cast<int>(j[3 * n + k]) * 4 + e], 2);
                for (int k = 0; k < 5; ++k) c += t[4 * k + e];
                y[4 * n + e] = a * b + c;
            }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(one_table_in_several_places) { check_op<twice>(); }
