// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/philox.hpp>
#include <sinter/profile/distribution/cluster_model.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

/// The slowest of n workers, and the others, without drawing n numbers where n is large.
namespace sinter::inline SINTER_TARGET::profile {

/// The normal number that is exceeded with probability q in (0, 1). Acklam's rational
/// approximation, then one step of Halley's method: exact to about 1e-15.
inline double normal_above(double q) {
    constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                            1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                            6.680131188771972e+01, -1.328068155288572e+01};
    constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                            -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
    if (q > 0.5) return -normal_above(1 - q);
    double x = 0;
    if (q < 0.02425) {
        const double t = std::sqrt(-2 * std::log(q));
        x = -(((((c[0] * t + c[1]) * t + c[2]) * t + c[3]) * t + c[4]) * t + c[5]) /
            ((((d[0] * t + d[1]) * t + d[2]) * t + d[3]) * t + 1);
    } else {
        const double t = 0.5 - q, r = t * t;
        x = t * (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    const double error = 0.5 * std::erfc(x / std::sqrt(2.0)) - q;
    const double u = -error * std::sqrt(2 * 3.14159265358979323846) * std::exp(x * x / 2);
    return x - u / (1 + x * u / 2);
}

/// The factor that a worker exceeds with probability q.
inline double factor_above(const stragglers& s, double q) {
    switch (s.kind) {
        case straggler_kind::uniform: return 1 + s.amount * (1 - q);
        case straggler_kind::exponential: return 1 - s.amount * std::log(q);
        case straggler_kind::lognormal: return std::exp(s.amount * normal_above(q));
        case straggler_kind::pareto: return std::pow(q, -1 / s.amount);
        default: return 1;
    }
}

/// Step `sample` of `samples`: the probability with which one worker exceeds the slowest of n.
/// Samples are equally spaced in the distribution of the slowest, so that their mean needs few.
inline double above_slowest(int n, int sample, int samples) {
    const double u = (sample + 0.5) / samples;   // the slowest is below this with probability u = (1 - q)^n
    return -std::expm1(std::log(u) / n);
}

/// Workers that are alike.
struct worker_class {
    int workers = 1;
    double factor = 1;
};

/// All workers of one step, from the fastest to the slowest, in at most `most` classes: each worker
/// by itself where they are few, drawn below the slowest; else the slowest alone and the others by
/// quantiles.
inline std::vector<worker_class> classes_of(const cluster_model& m, int sample, int most = 256) {
    const int n = m.workers;
    if (m.delay.kind == straggler_kind::none) return {{n, 1}};
    const double q = above_slowest(n, sample, m.samples);
    std::vector<worker_class> all;
    if (n <= most) {
        for (int i = 0; i + 1 < n; ++i) {
            const auto word = philox_word(m.seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(sample));
            const double u = (word + 0.5) / 4294967296.0 * (1 - q);
            all.push_back({1, factor_above(m.delay, 1 - u)});
        }
    } else {
        const int classes = most - 1;
        for (int c = 0, done = 0; c < classes; ++c) {
            const int end = static_cast<int>(static_cast<std::int64_t>(n - 1) * (c + 1) / classes);
            all.push_back({end - done, factor_above(m.delay, 1 - (c + 0.5) / classes * (1 - q))});
            done = end;
        }
    }
    all.push_back({1, factor_above(m.delay, q)});
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.factor < b.factor; });
    return all;
}

} // namespace sinter::profile
