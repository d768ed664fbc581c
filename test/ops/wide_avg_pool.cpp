// SPDX-License-Identifier: BSL-1.0
// shows numbers: counts beyond 2^31 and indices beyond 2^24 are right or refused when the net compiles
#define BOOST_TEST_MODULE wide_avg_pool
#include <boost/test/unit_test.hpp>

#include <sinter/ops/avg_pool.hpp>
#include <sinter/sinter.hpp>
#include <algorithm>

using namespace sinter;

namespace {
constexpr int width = 15'000, taps = 10'001, padding_each = 5'000, stride = 1'000;
constexpr auto net = array<width, 1> >> [](tensor x) {
    return ops::avg_pool(x, taps, {.stride = stride, .padding = padding_each, .rounding = rounding::ceil,
                                   .count_padding = true});
};
} // namespace

// Means that count more padding than twelve bits do: of each, what lies within the row and its padding.
BOOST_AUTO_TEST_CASE(much_padding_is_counted) {
    trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 1> t(sgd{}, {.threads = 1});
    std::vector<float> x;
    for (int i = 0; i < width; ++i) x.push_back(static_cast<float>(1 + i % 7));
    const span<const float> y = t.predict({.x = x.data(), .size = 1});
    BOOST_REQUIRE(y.size() == 16u);
    for (int o = 0; o < 16; ++o) {
        const int begin = o * stride - padding_each, end = std::min(begin + taps, width + padding_each);
        double sum = 0;
        for (int i = std::max(0, begin); i < std::min(end, width); ++i)
            sum += static_cast<double>(x[static_cast<std::size_t>(i)]);
        BOOST_TEST(static_cast<double>(y[static_cast<std::size_t>(o)]) == sum / (end - begin),
                   boost::test_tools::tolerance(1e-6));
    }
}
