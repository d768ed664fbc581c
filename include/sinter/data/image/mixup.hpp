// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/error.hpp>
#include <sinter/base/philox.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/base/span.hpp>
#include <sinter/base/to_text.hpp>
#if SINTER_BODIES
#include <cmath>
#endif

/// Mixup: examples that are sums of two, and targets that are, too. Source: Zhang, Cisse, Dauphin, Lopez-Paz, "mixup:
/// Beyond empirical risk minimization", ICLR 2018.
namespace sinter::inline SINTER_ORDINARY::data::image {

/// The share of the first of two examples: a number of Beta(alpha, alpha), in [0, 1]. `random` is the example's own
/// stream (data/transform/map.hpp). The paper's alpha is 0.2 for ImageNet, 1 (uniform) for CIFAR. option_error where
/// alpha is not within [0.001, 1000].
SINTER_SELDOM float mixup_share(random_stream& random, double alpha);

/// out = share * a + (1 - share) * b, element by element, for pictures as floats and for targets (classes as one-hot
/// rows). `out` may be `a` or `b`. data_error where lengths differ, option_error where the share is not within [0, 1].
SINTER_SELDOM void mixup(span<const float> a, span<const float> b, float share, span<float> out);

#if SINTER_BODIES
namespace detail {
/// The logarithm of a number of Gamma(shape, 1): where the shape is small, the number itself is often below doubles.
/// Source: Marsaglia, Tsang, "A simple method for generating gamma variables", 2000; shapes below 1: its section 6.
SINTER_SELDOM double log_of_gamma(random_stream& random, double shape) {
    const auto log_of_uniform = [&] { return std::log(1 - static_cast<double>(random.uniform())); };   // of (0, 1]
    const double boosted = shape < 1 ? log_of_uniform() / shape : 0;
    const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = static_cast<double>(random.normal()), root = 1 + c * x, v = root * root * root;
        if (v > 0 && log_of_uniform() < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v) + boosted;
    }
}
} // namespace detail

SINTER_SELDOM_BODY float mixup_share(random_stream& random, double alpha) {
    if (!(alpha >= 0.001 && alpha <= 1000))
        throw option_error("alpha that cannot be used", "mixup_share", {}, "0.001 to 1000");
    const double a = detail::log_of_gamma(random, alpha), b = detail::log_of_gamma(random, alpha);
    return static_cast<float>(1 / (1 + std::exp(b - a)));
}

SINTER_SELDOM_BODY void mixup(span<const float> a, span<const float> b, float share, span<float> out) {
    if (a.size() != b.size() || a.size() != out.size())
        throw data_error("examples of different lengths", "mixup",
                         to_text({a.size(), ", ", b.size(), " and ", out.size()}), "three of one length");
    if (!(share >= 0 && share <= 1)) throw option_error("share that cannot be used", "mixup", {}, "0 to 1");
    const float rest = 1 - share;
    const float *from_a = a.data(), *from_b = b.data();
    float* const to = out.data();
    for (std::size_t i = 0; i < a.size(); ++i) to[i] = share * from_a[i] + rest * from_b[i];
}
#endif

} // namespace sinter::data::image
