// SPDX-License-Identifier: BSL-1.0
// shows numbers: values and gradients over the floats' whole range
#define BOOST_TEST_MODULE ranges
#include <boost/test/unit_test.hpp>

#include <functional>
#include <sinter/ops.hpp>

#include "support/elementwise.hpp"

/// Values and gradients of elementwise ops over all floats: every power of ten, what is near 0 and
/// 1, zeros. Against formulas in extended precision. Where a gradient is made of the value, as
/// tanh's 1 - y^2 is, the bound is an absolute one.
using namespace sinter;
using namespace sinter::test;
using real = long double;

namespace {

constexpr int places = 208;
struct grid {
    double x[places]{};
    int n = 0;
    void add(double a) { if (n < places) x[n++] = static_cast<double>(static_cast<float>(a)); }
    grid() {
        for (double a : {0., 0.3, 0.5, 0.75, 1., 1.5, 2., 2.7, 3.5, 5., 7.5, 9., 11., 13.5, 15., 18., 30., 60., 85.})
            add(a), add(-a);
        for (int e = 2; e <= 24; e += 2)
            for (double sign : {1., -1.}) add(sign * (1 + std::exp2(-e))), add(sign * (1 - std::exp2(-e)));
        for (int e = -37; e <= 38; e += e < -9 || e > 8 ? 3 : 1)
            add(1.7 * std::pow(10, e)), add(-1.7 * std::pow(10, e));
        while (n < places) add(0.25);
    }
};
struct bounds {
    real value = 4e-7L, slope = 4e-7L, near = 0, slope_near = 0;   ///< relative to what is right, and absolute
};
bool fits(float got, real want, real relative, real absolute) {
    if (std::isnan(want)) return std::isnan(got);
    const real most = std::numeric_limits<float>::max();
    if (std::abs(want) * (1 - relative) > most) return std::isinf(got) && (got > 0) == (want > 0);
    if (std::abs(want) * (1 + relative) > most && std::isinf(got)) return true;
    // what is denormal may be flushed
    return std::abs(static_cast<real>(got) - want) <= relative * std::abs(want) + absolute + 2e-38L;
}
template <class F>
void check(const char* name, real (*value)(real), real (*slope)(real), bool (*within)(real), const bounds& b) {
    const grid g;
    double x[places];
    for (int i = 0; i < places; ++i) x[i] = within(static_cast<real>(g.x[i])) ? g.x[i] : 0.75;
    if (!within(0.75L))
        for (double& a : x) a = a == 0.75 ? 2. : a;
    const op_result r = at_places<F>(x);
    for (std::size_t i = 0; i < places; ++i) {
        const real at = static_cast<real>(x[i]), y = value(at), d = slope(at);
        BOOST_TEST(fits(r.y[i], y, b.value, b.near), name << " of " << x[i] << " is " << r.y[i] << ", not " << y);
        BOOST_TEST(fits(r.gradients[0][i], d, b.slope, b.slope_near),
                   name << "'s gradient at " << x[i] << " is " << r.gradients[0][i] << ", not " << d);
    }
}

} // namespace

#define RANGE(NAME, APPLY, VALUE, SLOPE, WITHIN, ...)                                                          \
    namespace NAME##_case {                                                                                    \
    struct op_of {                                                                                             \
        static constexpr tensor apply(tensor a) { return APPLY; }                                              \
    };                                                                                                         \
    }                                                                                                          \
    BOOST_AUTO_TEST_CASE(NAME##_of_all_floats) {                                                               \
        check<NAME##_case::op_of>(#NAME, [](real x) -> real { return VALUE; }, [](real x) -> real { return SLOPE; }, \
                                  []([[maybe_unused]] real x) { return WITHIN; }, bounds{__VA_ARGS__});         \
    }

namespace {
real square(real x) { return x * x; }
real logistic(real x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
real rest(real x) { return logistic(x) * logistic(-x); }   // its slope
real soft(real x) { return std::max(x, 0.L) + std::log1p(std::exp(-std::abs(x))); }
real normal(real x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<real>); }
real below(real x) { return std::erfc(-x / std::sqrt(2.L)) / 2; }
real tanh_slope(real x) { return std::abs(x) > 100 ? 0 : 1 / square(std::cosh(x)); }
real quantile(real a) {
    real low = -16, high = 16;
    for (int i = 0; i < 120; ++i) {
        const real y = (low + high) / 2;
        (below(y) < a ? low : high) = y;
    }
    return a > 0.5L ? -quantile(1 - a) : low;
}
constexpr real two_over_root_pi = 1.128379167095512573896L;
} // namespace

RANGE(asinh, ops::asinh(a), std::asinh(x), 1 / std::hypot(x, 1.L), true)
RANGE(acosh, ops::acosh(a), std::acosh(x), 1 / (std::sqrt(x - 1) * std::sqrt(x + 1)), x > 1)
RANGE(atanh, ops::atanh(a), std::atanh(x), 1 / ((1 - x) * (1 + x)), std::abs(x) < 1)
RANGE(asin, ops::asin(a), std::asin(x), 1 / std::sqrt((1 - x) * (1 + x)), std::abs(x) < 1)
RANGE(acos, ops::acos(a), std::acos(x), -1 / std::sqrt((1 - x) * (1 + x)), std::abs(x) < 1)
RANGE(atan, ops::atan(a), std::atan(x), 1 / (1 + x * x), true)
RANGE(softsign, ops::softsign(a), x / (1 + std::abs(x)), 1 / square(1 + std::abs(x)), true)
RANGE(probit, ops::probit(a), quantile(x), 1 / normal(quantile(x)), x > 0 && x < 1, 1e-6L, 5e-5L, 1e-7L)
RANGE(sqrt, ops::sqrt(a), std::sqrt(x), 0.5L / std::sqrt(x), x > 0)
RANGE(rsqrt, ops::rsqrt(a), 1 / std::sqrt(x), -0.5L / (x * std::sqrt(x)), x > 0)
RANGE(part_of_rsqrt, ops::rsqrt(a) * 1e-20f, 1e-20L / std::sqrt(x), -0.5e-20L / (x * std::sqrt(x)), x > 0)
RANGE(multiple_of_rsqrt, ops::rsqrt(a) * 1e20f, 1e20L / std::sqrt(x), -0.5e20L / (x * std::sqrt(x)), x > 0)
RANGE(reciprocal, ops::reciprocal(a), 1 / x, -1 / (x * x), std::abs(x) > 1e-37L)
RANGE(exp, ops::exp(a), std::exp(x), std::exp(x), true)
RANGE(expm1, ops::expm1(a), std::expm1(x), std::exp(x), true)
RANGE(log, ops::log(a), std::log(x), 1 / x, x > 0)
RANGE(log1p, ops::log1p(a), std::log1p(x), 1 / (1 + x), x > -1)
RANGE(sinh, ops::sinh(a), std::sinh(x), std::cosh(x), true)
RANGE(cosh, ops::cosh(a), std::cosh(x), std::sinh(x), true)
RANGE(tanh, ops::tanh(a), std::tanh(x), tanh_slope(x), true, 4e-7L, 4e-7L, 0, 3e-7L)
RANGE(sigmoid, ops::sigmoid(a), logistic(x), rest(x), true, 4e-7L, 4e-7L, 0, 2e-7L)
RANGE(softplus, ops::softplus(a), soft(x), logistic(x), true)
RANGE(softplus_of_beta, ops::softplus(a, 3.f), soft(3 * x) / 3, logistic(3 * x), true)
RANGE(log_sigmoid, ops::log_sigmoid(a), -soft(-x), logistic(-x), true)
RANGE(silu, ops::silu(a), x * logistic(x), logistic(x) + x * rest(x), true, 4e-7L, 4e-7L, 0, 2e-6L)
RANGE(mish, ops::mish(a), x * std::tanh(soft(x)), std::tanh(soft(x)) + x * tanh_slope(soft(x)) * logistic(x), true,
      1e-6L, 1e-6L, 0, 3e-6L)
RANGE(gelu, ops::gelu(a), x * below(x), below(x) + x * normal(x), true, 4e-7L, 4e-7L, 1e-6L, 1e-6L)
RANGE(erf, ops::erf(a), std::erf(x), two_over_root_pi * std::exp(-x * x), true, 4e-7L, 1e-5L)
RANGE(erfc, ops::erfc(a), std::erfc(x), -two_over_root_pi * std::exp(-x * x), true, 1e-5L, 1e-5L)
RANGE(elu, ops::elu(a), x > 0 ? x : std::expm1(x), x > 0 ? 1 : std::exp(x), true, 4e-7L, 4e-7L, 0, 1e-7L)
RANGE(selu, ops::selu(a), 1.05070099L * (x > 0 ? x : 1.67326324L * std::expm1(x)),
      1.05070099L * (x > 0 ? 1 : 1.67326324L * std::exp(x)), x != 0, 4e-7L, 4e-7L, 0, 3e-7L)
RANGE(lgamma, ops::lgamma(a), std::lgamma(x), x, false || x == 0.75L || x == 2, 1e-6L, 10, 1e-6L)
RANGE(cube, ops::pow(a, 3.f), x * x * x, 3 * x * x, true)
RANGE(root, ops::pow(a, 0.3f), std::pow(x, static_cast<real>(0.3f)),
      static_cast<real>(0.3f) * std::pow(x, static_cast<real>(0.3f) - 1), x > 0, 1e-6L, 1e-5L)

namespace {
/// Functions of several numbers whose squares, or other powers, leave the floats: of rows of three,
/// times any power of ten.
template <int P>
struct norm_of {
    static constexpr shape operands[] = {extents(19, 3)};
    static constexpr tensor apply(tensor a) { return ops::norm(a, static_cast<float>(P), {1}); }
    static real value(const real (&x)[3]) {
        const real most = std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
        real sum = 0;
        for (real e : x) sum += most > 0 ? std::pow(std::abs(e) / most, P) : 0;
        return most * std::pow(sum, 1.L / P);
    }
    static real slope(const real (&x)[3], int i) {
        const real y = value(x);
        return y > 0 ? std::pow(std::abs(x[i]) / y, P - 1) * (x[i] < 0 ? -1 : 1) : 0;
    }
};
struct deviation_of {
    static constexpr shape operands[] = {extents(19, 3)};
    static constexpr tensor apply(tensor a) { return ops::stddev(a, {1}); }
    static real value(const real (&x)[3]) {
        const real m = (x[0] + x[1] + x[2]) / 3;
        return std::hypot(x[0] - m, x[1] - m, x[2] - m) / std::sqrt(3.L);
    }
    static real slope(const real (&x)[3], int i) {
        const real m = (x[0] + x[1] + x[2]) / 3, y = value(x);
        return y > 0 ? (x[i] - m) / (3 * y) : 0;
    }
};
template <class F>
void check_rows(real bound) {
    const int n = 19;
    doubles x({n, 3});
    for (int i = 0; i < n; ++i) {   // the last: zeros
        const double size = i + 1 < n ? std::pow(10, -36 + 4 * i) : 0;
        x[3 * i] = static_cast<double>(static_cast<float>(3 * size));
        x[3 * i + 1] = static_cast<double>(static_cast<float>(-0.25 * size));
        x[3 * i + 2] = static_cast<double>(static_cast<float>(1.5 * size));
    }
    const op_result r = run_op<F>({x});
    for (int i = 0; i < n; ++i) {
        const real row[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        const float y = r.y[static_cast<std::size_t>(i)];
        BOOST_TEST(fits(y, F::value(row), bound, 0), "row " << i << " gives " << y << ", not " << F::value(row));
        for (int j = 0; j < 3; ++j) {
            const float g = r.gradients[0][static_cast<std::size_t>(3 * i + j)];
            BOOST_TEST(fits(g, F::slope(row, j), bound, bound / 2),
                       "row " << i << "'s gradient is " << g << ", not " << F::slope(row, j));
        }
    }
}
} // namespace
BOOST_AUTO_TEST_CASE(norms_of_all_floats) {
    check_rows<norm_of<2>>(4e-7L);
    check_rows<norm_of<3>>(1e-5L);
    check_rows<deviation_of>(1e-6L);
}

namespace {
struct angle {
    static constexpr tensor apply(tensor a, tensor b) { return ops::atan2(a, b); }
};
struct quotient {
    static constexpr tensor apply(tensor a, tensor b) { return a / b; }
};
} // namespace
/// Both operands of any size, and both alike.
BOOST_AUTO_TEST_CASE(two_operands_of_all_floats) {
    constexpr int n = 200;
    double a[n], b[n];
    for (int i = 0; i < n; ++i) {
        const int e = i < 100 ? i % 70 - 35 : i % 25 * 3 - 36, f = i < 100 ? e : i / 25 * 12 - 66;
        a[i] = static_cast<double>(static_cast<float>((i % 3 ? 1.3 : -2.1) * std::pow(10, e)));
        b[i] = static_cast<double>(static_cast<float>((i % 2 ? 1.7 : -0.9) * std::pow(10, f)));
    }
    const op_result r = at_places<angle>(a, b), q = at_places<quotient>(a, b);
    for (std::size_t i = 0; i < n; ++i) {
        const real x = static_cast<real>(a[i]), y = static_cast<real>(b[i]), s = x * x + y * y;
        const std::string what = std::to_string(a[i]) + ", " + std::to_string(b[i]) + " (" + std::to_string(i) + ")";
        BOOST_TEST(fits(r.y[i], std::atan2(x, y), 4e-7L, 0), "atan2 of " << what);
        BOOST_TEST(fits(r.gradients[0][i], y / s, 6e-7L, 0),
                   "atan2's gradient " << r.gradients[0][i] << ", not " << y / s);
        BOOST_TEST(fits(r.gradients[1][i], -x / s, 6e-7L, 0),
                   "atan2's gradient " << r.gradients[1][i] << ", not " << -x / s);
        BOOST_TEST(fits(q.y[i], x / y, 2e-7L, 0), "quotient of " << what);
        BOOST_TEST(fits(q.gradients[0][i], 1 / y, 2e-7L, 0), "quotient's gradient of " << what);
    }
}
