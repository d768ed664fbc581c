// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE pool
#include <boost/test/unit_test.hpp>

#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/expr/input.hpp>

#include "support/convolutions.hpp"

using namespace sinter;
using namespace sinter::test;

BOOST_AUTO_TEST_CASE(largest_and_mean) {
    check_net(image<7, 6, 2> >> conv2d<3, 1> >> avg_pool<2, window{1, padding::same}> >> max_pool<3>,
              [](const auto& p, const auto& x) {
        const doubles y = map(convolution(x[0], p[0], {}), p[1], [](double a, double b) { return a + b; });
        return std::vector{max_pooled(mean_pooled(y, 2, {}), 3, {3, padding::valid})};
    });
}
BOOST_AUTO_TEST_CASE(mean_of_the_image) {
    check_net(image<3, 5, 2> >> conv2d<3, 1, window{}, bias::no> >> global_avg_pool, [](const auto& p, const auto& x) {
        const doubles y = convolution(x[0], p[0], {});
        doubles mean({y.d[0], 3});
        for (int i = 0; i < y.size(); ++i) mean[i / 45 * 3 + i % 3] += y[i] / 15;
        return std::vector{mean};
    });
}
