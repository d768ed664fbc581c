// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE layers_noise
#include <boost/test/unit_test.hpp>

#include <sinter/layers/noise.hpp>

#include "support/draws.hpp"

using namespace sinter;
using namespace sinter::test;

struct spatial {
    static constexpr tensor apply(tensor a) { return spatial_dropout<0.25f>(a); }
};
BOOST_AUTO_TEST_CASE(channels_go_as_a_whole) {
    constexpr int pixels = 6, channels = 100, batch = 5;
    const auto y = draws<spatial, batch_of(2, 3, channels)>(1, 0, 3.);
    int gone = 0;
    for (int e = 0; e < batch; ++e)
        for (int c = 0; c < channels; ++c) {
            const float first = y[static_cast<std::size_t>(e * pixels * channels + c)];
            BOOST_REQUIRE((first == 0 || first == 4));
            gone += first == 0;
            for (int p = 0; p < pixels; ++p)
                BOOST_REQUIRE(y[static_cast<std::size_t>((e * pixels + p) * channels + c)] == first);
        }
    BOOST_TEST(std::abs(gone - 125) < 50);
}

/// Behind normal numbers mean and variance stay.
struct alpha {
    static constexpr tensor apply(tensor a) { return alpha_dropout<0.3f>(a + ops::random_normal(a)); }
};
struct noise {
    static constexpr tensor apply(tensor a) { return gaussian_noise<0.5f>(a); }
};
BOOST_AUTO_TEST_CASE(mean_and_variance) {
    const auto kept = draws<alpha, batch_of(2000)>(1, 0);
    check_mean(kept, 0, 1, "mean", [](double v) { return v; });
    check_mean(kept, 1, 1.5, "variance", [](double v) { return v * v; });
    const auto noisy = draws<noise, batch_of(2000)>(1, 0, 2.);
    check_mean(noisy, 2, 0.5, "mean", [](double v) { return v; });
    check_mean(noisy, 0.25, 0.36, "variance", [](double v) { return (v - 2) * (v - 2); });
}
