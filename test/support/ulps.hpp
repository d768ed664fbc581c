// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include <sinter/kernel/cpu/vector/simd.hpp>

/// How far a vector function is from the true value, in units in the last place.
namespace sinter::test {

using cpu::lanes;
using cpu::vf;

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

inline float from_bits(std::uint32_t b) {
    float x;
    std::memcpy(&x, &b, sizeof x);
    return x;
}

/// Distance in floats' spacing at the true value; the spacing of denormals below the least normal number.
inline double ulps(float got, double want) {
    if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
    if (std::abs(want) > std::numeric_limits<float>::max() * (1 + 0x1p-25))   // rounds to infinity
        return got == (want > 0 ? inf : -inf) ? 0 : 1e9;
    if (std::isnan(got)) return 1e9;
    int e;
    std::frexp(want, &e);
    return std::abs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(e - 24, -149));
}

/// The worst over a sweep of bit patterns from `low` to `high` in size and over both signs where asked.
template <class F, class R>
double worst(F f, R reference, float low, float high, bool both_signs, std::uint32_t stride = 1009) {
    std::uint32_t first, last;
    std::memcpy(&first, &low, 4);
    std::memcpy(&last, &high, 4);
    double most = 0;
    float at = 0, x[lanes], y[lanes];
    int n = 0;
    const auto flush = [&] {
        for (int i = n; i < lanes; ++i) x[i] = 1;
        cpu::store(y, f(cpu::load(x)));
        for (int i = 0; i < n; ++i)
            if (const double u = ulps(y[i], reference(static_cast<double>(x[i]))); u > most) most = u, at = x[i];
        n = 0;
    };
    for (std::uint64_t b = first; b <= last; b += stride)
        for (int s = 0; s <= both_signs; ++s) {
            x[n++] = from_bits(static_cast<std::uint32_t>(b) | (s ? 0x80000000u : 0));
            if (n == lanes) flush();
        }
    flush();
    BOOST_TEST_MESSAGE("worst " << most << " ULP at " << at);
    return most;
}

template <class F>
float one(F f, float x) {
    float y[lanes];
    cpu::store(y, f(cpu::splat(x)));
    return y[lanes - 1];
}

} // namespace sinter::test
