// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx2 avx512
// alone: its macros
#define BOOST_TEST_MODULE kernel_math_functions
#include <boost/test/unit_test.hpp>

#include <random>

#include <sinter/kernel/cpu/math/math.hpp>
#include <sinter/kernel/scalar_gamma.hpp>

#include "support/ulps.hpp"

using namespace sinter;
using namespace sinter::test;

#define LIFT(name) [](vf x) { return cpu::name(x); }
#define LIFT2(name) [](vf x, vf y) { return cpu::name(x, y); }
#define TRUE(name) [](double x) { return std::name(x); }

/// Everywhere, and closely between `low` and `high`, where the function changes its form.
template <class F, class R>
void check(F f, R reference, double most, float low, float high) {
    BOOST_TEST(worst(f, reference, 0x1p-126f, inf, true, 10007) <= most);
    BOOST_TEST(worst(f, reference, low, high, true, 401) <= most);
    BOOST_TEST(std::isnan(one(f, not_a_number)));
}

BOOST_AUTO_TEST_CASE(exponentials) {
    check(LIFT(expm1), TRUE(expm1), 1.7, 1e-2f, 90.f);
    check(LIFT(log1p), TRUE(log1p), 1.5, 1e-2f, 3.f);
    check(LIFT(softplus), [](double x) { return std::fmax(x, 0.) + std::log1p(std::exp(-std::abs(x))); }, 2.5,
          1e-2f, 87.f);
}
BOOST_AUTO_TEST_CASE(complement_of_the_error_function) {
    check(LIFT(erfc), [](double x) { return x > 9.19 ? 0 : std::erfc(x); }, 4, 0.1f, 9.19f);
    BOOST_TEST(worst(LIFT(erfc), TRUE(erfc), 9.19f, 9.3f, false, 7) <= 64);   // denormal soon
}
BOOST_AUTO_TEST_CASE(angles) {
    check(LIFT(sin), TRUE(sin), 1.6, 0.1f, 10.f);
    check(LIFT(cos), TRUE(cos), 1.6, 0.1f, 10.f);
    check(LIFT(tan), TRUE(tan), 3.5, 0.1f, 10.f);
    BOOST_TEST(worst(LIFT(sin), TRUE(sin), 1e3f, 0x1.1p20f, true, 401) <= 1.6);
    BOOST_TEST(worst(LIFT(cos), TRUE(cos), 1e3f, 0x1.1p20f, true, 401) <= 1.6);
    // near multiples of pi/2, and around the largest angle that is reduced by vectors
    for (float x : {1.57079637f, 3.14159274f, 6.28318548f, 102943.707f, 262143.984f, 262144.f, 262144.031f, 1048575.94f,
                    1048576.f, 1048576.12f, 3e38f}) {
        const double a = static_cast<double>(x);
        BOOST_TEST(ulps(one(LIFT(sin), x), std::sin(a)) <= 1.6);
        BOOST_TEST(ulps(one(LIFT(cos), -x), std::cos(a)) <= 1.6);
        BOOST_TEST(ulps(one(LIFT(tan), x), std::tan(a)) <= 3.5);
    }
}
BOOST_AUTO_TEST_CASE(inverses_of_angles) {
    check(LIFT(asin), TRUE(asin), 2, 0.3f, 1.1f);
    check(LIFT(acos), TRUE(acos), 1.5, 0.3f, 1.1f);
    check(LIFT(atan), TRUE(atan), 1.6, 0.3f, 4.f);
}
BOOST_AUTO_TEST_CASE(hyperbolas) {
    check(LIFT(sinh), TRUE(sinh), 1.7, 0.3f, 90.f);
    check(LIFT(cosh), TRUE(cosh), 1.5, 0.3f, 90.f);
    check(LIFT(asinh), TRUE(asinh), 2.2, 1e-2f, 4.f);
    check(LIFT(acosh), TRUE(acosh), 2.4, 0.9f, 4.f);
    check(LIFT(atanh), TRUE(atanh), 2.6, 1e-2f, 1.1f);
}
BOOST_AUTO_TEST_CASE(logarithm_of_gamma_and_its_derivatives) {
    // the C library's is exact enough in double; next to a zero below 0 the distance to it counts
    const auto l = [](double x) { return std::lgamma(x); };
    BOOST_TEST(worst(LIFT(lgamma), l, 1e-38f, 3.4e38f, false, 10007) <= 2.8);
    BOOST_TEST(worst(LIFT(lgamma), l, 0.2f, 9.f, false, 101) <= 2.8);
    for (float x = -0.01f; x > -30; x *= 1.001f) {
        const double want = std::lgamma(static_cast<double>(x));
        if (std::isfinite(want))
            BOOST_TEST(std::abs(static_cast<double>(one(LIFT(lgamma), x)) - want) <= 0x1p-24 * std::abs(want) + 1e-13);
    }
    for (float x : {0.f, -0.f, -1.f, -7.f, inf, -inf, -1e9f}) BOOST_TEST(one(LIFT(lgamma), x) == inf);
    BOOST_TEST((one(LIFT(lgamma), 1.f) == 0 && one(LIFT(lgamma), 2.f) == 0));
    // the other two against sums: of 1 / (k + x) - 1 / (k + 1) and of 1 / (k + x)^2, their rests by integrals
    const auto sums = [](double x) {
        const int n = 20000;
        double first = -0.57721566490153286, second = 0;
        for (int k = 0; k < n; ++k) first -= 1 / (k + x) - 1. / (k + 1), second += 1 / ((k + x) * (k + x));
        first += std::log((n + x - 0.5) / (n + 0.5));
        return std::pair(first, second + 1 / (n + x - 0.5));
    };
    for (float x : {1e-3f, 0.3f, 1.f, 1.46163213f, 2.5f, 7.9f, 8.f, 30.f, -0.3f, -1.7f, -6.2f}) {
        const auto [first, second] = sums(static_cast<double>(x));
        const double error = 1e-9 + 0x1p-23 * std::abs(first), error2 = 1e-9 + 0x1p-23 * second;
        BOOST_TEST(std::abs(static_cast<double>(one(LIFT(digamma), x)) - first) <= error);
        BOOST_TEST(std::abs(static_cast<double>(one(LIFT(trigamma), x)) - second) <= error2);
        BOOST_TEST(std::abs(scalar_gamma::digamma(static_cast<double>(x)) - first) <= error);
        BOOST_TEST(std::abs(scalar_gamma::trigamma(static_cast<double>(x)) - second) <= error2);
    }
}

/// f(x, y) for pairs drawn from all floats, every second pair of a moderate quotient.
template <class F>
void on_pairs(F f) {
    std::mt19937 random(3);
    for (int i = 0; i < 100000; ++i) {
        float x = from_bits(random()), y = from_bits(random());
        if (i % 2) {
            x = from_bits(0x3e800000u + random() % 0x4000000u);
            y = static_cast<float>(static_cast<int>(random() % 8192u) - 4096) / 64;
            if (i % 3 == 0) y = std::round(y), x = -x;
        }
        if ((std::abs(x) > 1e-37f || !(x == x)) && (std::abs(y) > 1e-37f || !(y == y))) f(x, y);
    }
}
float two(vf (*f)(vf, vf), float x, float y) { return f(cpu::splat(x), cpu::splat(y))[lanes - 1]; }

BOOST_AUTO_TEST_CASE(powers_and_angles_of_points) {
    double power = 0, angle = 0;
    on_pairs([&](float x, float y) {
        const double p = static_cast<double>(x), q = static_cast<double>(y), want = std::pow(p, q),
            a = std::atan2(p, q);
        if (std::abs(want) > 1e-37 || want == 0 || std::isnan(want))
            power = std::max(power, ulps(two(LIFT2(pow), x, y), want));
        if (std::abs(a) > 1e-37 || std::isnan(a)) angle = std::max(angle, ulps(two(LIFT2(atan2), x, y), a));
    });
    BOOST_TEST(power <= 0.8);
    BOOST_TEST(angle <= 2);
}
BOOST_AUTO_TEST_CASE(powers_of_which_the_exponent_magnifies_the_logarithm) {
    std::mt19937 random(5);
    double worst = 0;
    // near 1, and around the ends of the logarithm's fraction; powers in all of a float's range
    for (int i = 0; i < 200000; ++i) {
        const float near = std::ldexp(static_cast<float>(random() % 2001u) / 1000 - 1,
                                      -static_cast<int>(random() % 22u));
        const float x = i % 3 == 0 ? 1 + near / 2 : i % 3 == 1 ? 0.7f + static_cast<float>(random() % 1000000u) * 1e-6f
                                                                : from_bits(0x00800000u + random() % 0x7f000000u);
        const double log = std::log2(static_cast<double>(x)),
            t = (static_cast<double>(random() % 252001u) - 126000) / 1000;
        const float y = log == 0 ? 1.f : static_cast<float>(t / log);
        const double want = std::pow(static_cast<double>(x), static_cast<double>(y));
        if (std::isfinite(y) && want > 1.2e-38 && want < 3.4e38)
            worst = std::max(worst, ulps(two(LIFT2(pow), x, y), want));
    }
    BOOST_TEST(worst <= 0.85);
}
BOOST_AUTO_TEST_CASE(remainders) {
    on_pairs([&](float x, float y) {
        const float r = std::fmod(x, y), want = r != 0 && (r < 0) != (y < 0) ? r + y : r;
        if (std::abs(r) < 1e-37f && r != 0) return;
        const float got = two(LIFT2(mod), x, y);
        BOOST_TEST((got == want || (std::isnan(got) && std::isnan(want))), x << " mod " << y << " is not " << got);
        const double q = std::floor(static_cast<double>(x) / static_cast<double>(y));
        if (std::abs(q) < 1e6 && r != 0) BOOST_TEST(static_cast<double>(two(LIFT2(floor_div), x, y)) == q);
    });
}
BOOST_AUTO_TEST_CASE(integers) {
    const auto same = [](float a, float b) {
        return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
    };
    for (std::uint64_t b = 0; b < (std::uint64_t{1} << 32); b += 20011) {
        const float x = from_bits(static_cast<std::uint32_t>(b));
        const bool fine = same(one(LIFT(round), x), std::nearbyint(x)) && same(one(LIFT(floor), x), std::floor(x)) &&
                          same(one(LIFT(ceil), x), std::ceil(x)) && same(one(LIFT(trunc), x), std::trunc(x));
        if (!fine) BOOST_ERROR("rounding of " << x);
    }
}
