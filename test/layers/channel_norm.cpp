// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE layers_channel_norm
#include <boost/test/unit_test.hpp>

#include <sinter/expr/input.hpp>
#include <sinter/layers/channel_norm.hpp>
#include <sinter/layers/upsample.hpp>

#include "support/check_net.hpp"

using namespace sinter;
using namespace sinter::test;

/// Their parameters and where they stand; the ops have their own tests.
BOOST_AUTO_TEST_CASE(one_after_the_other) {
    check_net<programs::fused_only>(array<1, 2, 4> >> group_norm<1> >> upsample<per_axis(2, 1)> >> rms_norm,
                                    [](const auto& p, const auto& x) {
        doubles y({x[0].d[0], 2, 2, 4});
        for (int e = 0; e < y.d[0]; ++e) {
            double mean = 0, variance = 0;
            for (int i = 0; i < 8; ++i) mean += x[0][e * 8 + i] / 8;
            for (int i = 0; i < 8; ++i) variance += (x[0][e * 8 + i] - mean) * (x[0][e * 8 + i] - mean) / 8;
            for (int pixel = 0; pixel < 2; ++pixel) {
                double own[4], square = 0;
                for (int c = 0; c < 4; ++c) {
                    own[c] = (x[0][e * 8 + pixel * 4 + c] - mean) / std::sqrt(variance + 1e-5) * p[0][c] + p[1][c];
                    square += own[c] * own[c] / 4;
                }
                for (int c = 0; c < 4; ++c)
                    for (int row = 0; row < 2; ++row)
                        y[((e * 2 + row) * 2 + pixel) * 4 + c] = own[c] / std::sqrt(square + 1e-6) * p[2][c];
            }
        }
        return std::vector{y};
    }, {.gradient = 1e-4});
}

/// With other numbers than the usual ones each is NAME_with.
BOOST_AUTO_TEST_CASE(another_epsilon) {
    check_net<programs::fused_only>(array<1, 2> >> group_norm_with<1, 0.5f> >> rms_norm_with<0.25f>,
                                    [](const auto& p, const auto& x) {
        doubles y(x[0].d);
        for (int e = 0; e < y.d[0]; ++e) {
            const double a = x[0][e * 2], b = x[0][e * 2 + 1], half = (a - b) / 2, r = 1 / std::sqrt(half * half + 0.5);
            const double u = half * r * p[0][0] + p[1][0], v = -half * r * p[0][1] + p[1][1],
                q = std::sqrt((u * u + v * v) / 2 + 0.25);
            y[e * 2] = u / q * p[2][0];
            y[e * 2 + 1] = v / q * p[2][1];
        }
        return std::vector{y};
    }, {.gradient = 1e-4});
    static_assert(std::is_same_v<decltype(instance_norm_with<1e-5f>), decltype(instance_norm)>);
}
