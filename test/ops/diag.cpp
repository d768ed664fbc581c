// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE diag
#include <boost/test/unit_test.hpp>

#include <sinter/ops/diag.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int K>
struct vector_to_matrix {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return diag(a, K); }
    static doubles reference(const doubles& a) {
        std::vector<int> d = a.d;
        d.back() += K < 0 ? -K : K;
        d.push_back(d.back());
        return moved(d, a, [](places at) {
            const int c = at.back();
            at.pop_back();
            if (c - at.back() != K) return nowhere;
            if (K > 0) return at;   // the row's number
            at.back() = c;
            return at;
        });
    }
};
template <shape A, int K>
struct matrix_to_vector {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return diagonal(a * a, K); }
    static doubles reference(const doubles& a) {
        std::vector<int> d = a.d;
        d.pop_back();
        const int rows = d.back(), columns = a.d.back();
        for (d.back() = 0; d.back() + (K < 0 ? -K : 0) < rows && d.back() + (K > 0 ? K : 0) < columns;) ++d.back();
        const doubles y = moved(d, a, [](places at) {
            const int i = at.back();
            at.back() = i + (K < 0 ? -K : 0);
            at.push_back(i + (K > 0 ? K : 0));
            return at;
        });
        return map(y, [](double v) { return v * v; });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<vector_to_matrix<batch_of(3), 0>, programs::fused_only>();
    check_op<vector_to_matrix<extents(2, 2), -2>, programs::fused_only>();
    check_op<matrix_to_vector<batch_of(3, 5), 1>, programs::fused_only>();
    check_op<matrix_to_vector<extents(2, 4, 3), -1>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(3, 3), fault_kind::axis_out_of_range, [](tensor x) { return diagonal(x, 3); }));
    BOOST_TEST(refuses(batch_of(3), fault_kind::axis_out_of_range, [](tensor x) { return diagonal(x); }));
}
