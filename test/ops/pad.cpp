// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pad
#include <boost/test/unit_test.hpp>

#include <sinter/ops/pad.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

/// NumPy's rules, one axis after the other.
template <shape A, pad_mode Mode, int... M>
struct mirrored {
    static constexpr int m[] = {M...};
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) {
        if constexpr (sizeof...(M) == 2) return pad(a * a, {{m[0], m[1]}}, Mode);
        else return pad(a * a, {{m[0], m[1]}, {m[2], m[3]}}, Mode);
    }
    static doubles reference(const doubles& a) {
        doubles y = map(a, [](double v) { return v * v; });
        for (int axis = A.batched, k = 0; k < static_cast<int>(sizeof...(M)); ++axis, k += 2) {
            std::vector<int> order(static_cast<std::size_t>(m[k]));   // the places that are read, one after the other
            const int n = y.d[axis];
            for (int i = 0; i < m[k]; ++i) order[i] = Mode == pad_mode::edge ? 0 : m[k] - i;
            for (int i = 0; i < n; ++i) order.push_back(i);
            for (int i = 0; i < m[k + 1]; ++i) order.push_back(Mode == pad_mode::edge ? n - 1 : n - 2 - i);
            std::vector<int> d = y.d;
            d[axis] = static_cast<int>(order.size());
            y = moved(d, y, [&](places at) {
                at[axis] = order[at[axis]];
                return at;
            });
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(mirrors) {
    check_op<mirrored<batch_of(3, 4, 2), pad_mode::reflect, 2, 1, 3, 0>>();
    check_op<mirrored<extents(5), pad_mode::reflect, 4, 4>, programs::fused_only>();
    // behind the margins whole pieces
    check_op<mirrored<batch_of(4, 2, 20), pad_mode::reflect, 3, 2>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(repeats_the_edge) {
    check_op<mirrored<batch_of(2, 3), pad_mode::edge, 1, 3, 0, 2>, programs::fused_only>();
    check_op<mirrored<extents(1, 4), pad_mode::edge, 2, 3>, programs::fused_only>();
}

struct constant_margin {
    static constexpr shape operands[] = {batch_of(3, 2, 4)};
    static constexpr tensor apply(tensor a) { return pad(a, {{1, 0}, {0, 0}, {2, 1}}, -1.5f); }
    static doubles reference(const doubles& a) {
        doubles y({a.d[0], 4, 2, 7}, -1.5);
        for (int n = 0; n < a.size(); ++n) {
            places at = a.where(n);
            at[1] += 1;
            at[3] += 2;
            y.at(at) = a[n];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(one_number) { check_op<constant_margin>(); }

BOOST_AUTO_TEST_CASE(faults) {
    const auto bad = [](auto f) { return refuses(batch_of(3, 3), fault_kind::axis_out_of_range, f); };
    BOOST_TEST(bad([](tensor x) { return pad(x, {{3, 0}}, pad_mode::reflect); }));   // there is nothing to mirror
    BOOST_TEST(bad([](tensor x) { return pad(x, {{-1, 0}}); }));
    BOOST_TEST(bad([](tensor x) { return pad(x, {{}, {}, {1, 1}}); }));
    BOOST_TEST(!bad([](tensor x) { return pad(x, {{3, 0}}, pad_mode::edge); }));
}
