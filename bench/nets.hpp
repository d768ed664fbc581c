// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/sinter.hpp>
#include <zoo/lenet.hpp>
#include <zoo/mlp.hpp>

/// The nets that are measured, and data for them: images of 28 x 28 x 1 and ten classes, fixed pseudo-random numbers.
namespace sinter::bench {

inline constexpr auto mlp = zoo::mlp<10, 128>;
inline constexpr auto lenet = zoo::lenet<>;
inline constexpr auto cnn = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2> >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dense<10>;
/// README's.
inline constexpr auto quickstart = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2> >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

/// Sixteen batches of 64.
inline data::example_set examples() {
    constexpr int n = 64 * 16;
    std::vector<float> x(n * 784);
    std::vector<std::int32_t> y(n);
    random_stream r(7);
    for (float& v : x) v = r.uniform();
    for (std::int32_t& v : y) v = static_cast<std::int32_t>(r.below(10));
    return data::example_set(extents(28, 28, 1), std::move(x)).labels(std::move(y), 10);
}

} // namespace sinter::bench
