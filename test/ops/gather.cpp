// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE gather
#include <boost/test/unit_test.hpp>

#include <sinter/ops/cast.hpp>
#include <sinter/ops/gather.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

constexpr shape whole(shape s) {
    s.type = dtype::i32;
    return s;
}
/// Each example's own slices, or those of one table.
template <shape A, shape I, int Axis>
struct op_of {
    static constexpr shape operands[] = {whole(I), A};
    static constexpr double low = -1, high = A.d[Axis];
    static constexpr tensor apply(tensor i, tensor a) { return gather(a, i, Axis) * 0.5f; }
    static doubles reference(const doubles& i, const doubles& a) {
        constexpr bool batched = A.batched || I.batched;
        const int batch = A.batched ? a.d[0] : i.d[0];
        std::vector<int> d;
        if (batched) d.push_back(batch);
        for (int k = 0; k < A.rank; ++k) {
            if (k != Axis) d.push_back(A.d[k]);
            else d.insert(d.end(), I.d, I.d + I.rank);
        }
        doubles y(d);
        for (int n = 0; n < y.size(); ++n) {
            const places at = y.where(n);
            const auto first = at.begin() + batched + Axis;
            places index(first, first + I.rank), from(at.begin() + batched, first);
            if (I.batched) index.insert(index.begin(), at[0]);
            from.push_back(static_cast<int>(i.at(index)));
            from.insert(from.end(), first + I.rank, at.end());
            if (A.batched) from.insert(from.begin(), at[0]);
            y[n] = a.at(from) / 2;
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(own_indices) {
    check_op<op_of<batch_of(4, 3), batch_of(5), 0>>();
    check_op<op_of<batch_of(2, 3, 2), batch_of(2, 2), 1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(a_table_of_all) { check_op<op_of<extents(2, 4, 3), batch_of(2), 1>, programs::fused_only>(); }

/// Numbers that the program makes: known to be places of the axis, or made to be.
struct computed {
    static constexpr shape operands[] = {batch_of(5), extents(3)};
    static constexpr tensor apply(tensor a, tensor b) { return gather(a, cast(b * 8.f, 5)) * 1.f; }
    static doubles reference(const doubles& a, const doubles& b) {
        doubles y({a.d[0], 3});
        for (int n = 0; n < y.size(); ++n) {
            const double v = std::trunc(8 * b[n % 3]);
            y[n] = a[n / 3 * 5 + static_cast<int>(v < 0 ? 0 : v > 4 ? 4 : v)];
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(computed_indices) {
    check_op<computed, programs::fused_only>();
    BOOST_TEST(refuses(batch_of(4), fault_kind::wrong_element_type,
                       [](tensor x) { return gather(x, cast(x, dtype::i32)); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::wrong_element_type, [](tensor x) { return gather(x, cast(x, 5)); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::none, [](tensor x) { return gather(x, cast(x, 4)); }));
}
