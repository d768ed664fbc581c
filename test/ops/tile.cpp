// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE tile
#include <boost/test/unit_test.hpp>

#include <sinter/ops/concat.hpp>
#include <sinter/ops/pad.hpp>
#include <sinter/ops/tile.hpp>

#include "support/moves.hpp"

using namespace sinter;
using namespace sinter::test;

template <shape A, int... Times>
struct op_of {
    static constexpr shape operands[] = {A};
    static constexpr tensor apply(tensor a) { return tile(a * a, {Times...}); }
    static doubles reference(const doubles& a) {
        std::vector<int> d = a.d;
        int i = A.batched;
        for (int n : {Times...}) d[i++] *= n;
        const doubles y = moved(d, a, [&](places at) {
            for (std::size_t k = 0; k < at.size(); ++k) at[k] %= a.d[k];
            return at;
        });
        return map(y, [](double v) { return v * v; });
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) {
    check_op<op_of<batch_of(2, 3), 3, 2>, programs::fused_only>();
    check_op<op_of<batch_of(2, 1, 2), 1, 2, 1>, programs::fused_only>();
    check_op<op_of<extents(2, 3), 1, 2>, programs::fused_only>();
}
BOOST_AUTO_TEST_CASE(faults) {
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return tile(x, {0}); }));
    BOOST_TEST(refuses(batch_of(4), fault_kind::axis_out_of_range, [](tensor x) { return tile(x, {2, 2}); }));
}
/// Extents that no int holds are refused, in tile and wherever else an axis grows.
BOOST_AUTO_TEST_CASE(axes_that_grow_too_large) {
    constexpr int large = 1 << 30;
    BOOST_TEST(refuses(batch_of(large), fault_kind::tensor_too_large, [](tensor x) { return tile(x, {2}); }));
    BOOST_TEST(refuses(batch_of(large), fault_kind::tensor_too_large, [](tensor x) { return ops::concat(x, x); }));
    BOOST_TEST(refuses(batch_of(large), fault_kind::axis_out_of_range,
                       [](tensor x) { return ops::pad(x, {{large, 0}}); }));
    BOOST_TEST(refuses(batch_of(large), fault_kind::axis_out_of_range, [](tensor x) {
        return ops::pad(x, {{0, large}}, pad_mode::edge);
    }));
}
