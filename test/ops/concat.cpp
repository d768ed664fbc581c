// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE concat
#include <boost/test/unit_test.hpp>

#include <sinter/ops/concat.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, shape B, int Axis>
struct op_of {
    static constexpr shape operands[] = {A, B};
    static constexpr tensor apply(tensor a, tensor b) { return ops::concat(a * a, b, Axis); }
    static doubles reference(const doubles& a, const doubles& b) {
        const auto axis = static_cast<std::size_t>((Axis < 0 ? Axis + A.rank : Axis) + A.batched);
        std::vector<int> d = a.d;
        d[axis] += b.d[axis];
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            auto at = y.where(n);
            const bool second = at[axis] >= a.d[axis];
            if (second) at[axis] -= a.d[axis];
            y[n] = second ? b.at(at) : a.at(at) * a.at(at);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(each_axis) {
    check_op<op_of<drawn_batch(0, 3), with_axis(drawn_batch(0, 3), 0, 2), 0>>();
    check_op<op_of<drawn_batch(1, 3), with_axis(drawn_batch(1, 3), 1, 3), 1>, programs::fused_only>();
    check_op<op_of<drawn_batch(2, 3), with_axis(drawn_batch(2, 3), 2, 7), -1>, programs::fused_only>();
    check_op<op_of<drawn(3, 2), with_axis(drawn(3, 2), 0, 1), 0>, programs::fused_only>();
    // rows of each length that has its own way
    check_op<op_of<batch_of(3, 1), batch_of(3, 2), -1>, programs::fused_only>();
    check_op<op_of<batch_of(3, 4), batch_of(3, 16), -1>, programs::fused_only>();
    check_op<op_of<batch_of(2, 37), batch_of(2, 256), -1>, programs::fused_only>();
}

/// Single columns, of which the result has them in turns; more than a vector's.
template <int N>
struct interleaved {
    static constexpr shape operands[] = {batch_of(21, 1), batch_of(21, 1)};
    static constexpr tensor apply(tensor a, tensor b) {
        if (N == 2) return ops::concat({a * a, b});
        if (N == 3) return ops::concat({b, a * a, a});
        return ops::concat({a, b, a * a, b * b});
    }
    static doubles reference(const doubles& a, const doubles& b) {
        doubles y({a.d[0], 21, N});
        for (int i = 0; i < a.size(); ++i) {
            const double u = a[i], v = b[i];
            const double all[3][4] = {{u * u, v}, {v, u * u, u}, {u, v, u * u, v * v}};
            for (int j = 0; j < N; ++j) y[i * N + j] = all[N - 2][j];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(columns_interleaved) {
    check_op<interleaved<2>, programs::fused_only>();
    check_op<interleaved<3>, programs::fused_only>();
    check_op<interleaved<4>, programs::fused_only>();
}

struct three {
    static constexpr shape operands[] = {batch_of(2, 3), batch_of(2, 1), batch_of(2, 4)};
    static constexpr tensor apply(tensor a, tensor b, tensor c) { return ops::concat({a, b, c, a}); }
    static doubles reference(const doubles& a, const doubles& b, const doubles& c) {
        doubles y({a.d[0], 2, 11});
        for (int i = 0; i < y.size(); ++i) {
            const int r = i / 11, j = i % 11;
            y[i] = j < 3 ? a[3 * r + j] : j < 4 ? b[r] : j < 8 ? c[4 * r + j - 4] : a[3 * r + j - 8];
        }
        return y;
    }
};
struct six {   // by fours, then by what is left
    static constexpr shape operands[] = {batch_of(2, 3), batch_of(1, 3), batch_of(3, 3)};
    static constexpr tensor apply(tensor a, tensor b, tensor c) { return ops::concat({a, b, c, b, a * a, c}, 0); }
    static doubles reference(const doubles& a, const doubles& b, const doubles& c) {
        doubles y({a.d[0], 12, 3});
        for (int i = 0; i < y.size(); ++i) {
            const int n = i / 36, r = i / 3 % 12, j = i % 3;
            auto of = [&](const doubles& x, int rows, int row) { return x[(n * rows + row) * 3 + j]; };
            y[i] = r < 2 ? of(a, 2, r) : r < 3 ? of(b, 1, 0) : r < 6 ? of(c, 3, r - 3) : r < 7 ? of(b, 1, 0)
                 : r < 9 ? of(a, 2, r - 7) * of(a, 2, r - 7) : of(c, 3, r - 9);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(several) {
    check_op<three>();
    check_op<six, programs::fused_only>();
}

/// More than one copy takes, of different widths.
struct many_parts {
    static constexpr shape operands[] = {batch_of(2, 3)};
    static constexpr tensor apply(tensor x) {
        return ops::concat({x, x * 2.f, ops::slice(x, 1, 0, 1), x * 3.f, x * 4.f, ops::slice(x, 1, 1, 2), x * 5.f,
                            x * 6.f, x * 7.f, x * 8.f}, 1);
    }
    static doubles reference(const doubles& x) {
        constexpr int width = 27;
        doubles y({x.d[0], 2, width});
        for (int r = 0; r < 2 * x.d[0]; ++r) {
            int at = r * width;
            const auto part = [&](int first, int n, double scale) {
                for (int i = 0; i < n; ++i) y[at++] = x[r * 3 + first + i] * scale;
            };
            part(0, 3, 1), part(0, 3, 2), part(0, 1, 1), part(0, 3, 3), part(0, 3, 4), part(1, 2, 1);
            for (int k = 5; k <= 8; ++k) part(0, 3, k);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(more_than_one_copy_takes) { check_op<many_parts, programs::fused_only>(); }
