// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE map_fn
#include <boost/test/unit_test.hpp>

#include <sinter/ops/map_fn.hpp>
#include <sinter/ops/softmax.hpp>

#include "support/check_op.hpp"

using namespace sinter;
using namespace sinter::test;

/// Each slice's own softmax over all of its elements, times its number.
struct slices {
    static constexpr shape operands[] = {batch_of(4, 2, 3)};
    static constexpr tensor apply(tensor x) {
        return map_fn([](tensor s) {
            return ops::reshape(ops::softmax(ops::reshape(s, extents(6))), extents(2, 3)) * ops::loop_index(s);
        }, x);
    }
    static doubles reference(const doubles& x) {
        doubles y(x.d);
        for (int r = 0; r < x.size() / 6; ++r) {
            double sum = 0;
            for (int i = 0; i < 6; ++i) sum += std::exp(x[r * 6 + i]);
            for (int i = 0; i < 6; ++i) y[r * 6 + i] = std::exp(x[r * 6 + i]) / sum * (r % 4);
        }
        return y;
    }
};
BOOST_AUTO_TEST_CASE(values_and_gradients) { check_op<slices, programs::fused_only>(); }
