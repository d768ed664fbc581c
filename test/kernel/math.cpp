// SPDX-License-Identifier: BSL-1.0
// also: sse2 avx avx2 avx512
// alone: its macros
#define BOOST_TEST_MODULE kernel_math
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <sinter/base/philox.hpp>
#include <sinter/kernel/cpu/math/math.hpp>
#include <sinter/kernel/cpu/vector/philox.hpp>

#include "support/ulps.hpp"

using namespace sinter;
using namespace sinter::base;
using namespace sinter::test;

namespace {

#define LIFT(name) [](vf x) { return cpu::name(x); }

#if defined(__FMA__) || defined(__AVX512F__)
constexpr bool has_multiply_add = true;
#else
constexpr bool has_multiply_add = false;
#endif

} // namespace

BOOST_AUTO_TEST_CASE(exp_everywhere) {
    const auto f = LIFT(exp);
    const auto r = [](double x) { return std::exp(x); };
    BOOST_TEST(worst(f, r, 0.f, inf, true) <= 1.1);
    BOOST_TEST(worst(f, r, 80.f, 110.f, true, 7) <= 1.1);   // overflow, denormals, underflow
    BOOST_TEST(one(f, -0.f) == 1.f);
    BOOST_TEST(one(f, inf) == inf);
    BOOST_TEST(one(f, -inf) == 0.f);
    BOOST_TEST(std::isnan(one(f, not_a_number)));
}

BOOST_AUTO_TEST_CASE(exp2_without_denormals) {
    const auto f = [](vf x) { return cpu::negative_power(1.f)(x); };
    const auto r = [](double x) { return std::exp2(x); };
    BOOST_TEST(worst(f, r, -126.f, 0.f, false) <= 2.6);
    BOOST_TEST(one(f, 0.f) == 1.f);
    BOOST_TEST(std::abs(one(f, -126.4f) / 0x1p-126f - 0.75f) <= 0.25f);
    for (float x : {-126.6f, -127.f, -150.f, -1e30f, -inf}) BOOST_TEST(one(f, x) == 0.f);
    BOOST_TEST(std::isnan(one(f, not_a_number)));
    BOOST_TEST(std::isnan(one(f, from_bits(0x7fc12345u))));
}

BOOST_AUTO_TEST_CASE(exp2_near) {
    const auto f = LIFT(near_exp2);
    const auto r = [](double x) { return std::exp2(x); };
    BOOST_TEST(worst(f, r, 0.f, 126.f, true) <= 2.6);
    BOOST_TEST(worst(f, r, 126.f, 127.4f, false, 7) <= 2.6);
    BOOST_TEST(one(f, -0.f) == 1.f);
    BOOST_TEST(std::abs(one(f, -126.4f)) < 0x1p-126f);
    BOOST_TEST(std::isnan(one(f, not_a_number)));
}

BOOST_AUTO_TEST_CASE(powers_of_scaled_differences) {
    const auto third = [](vf x) { return cpu::negative_power(0.3f)(x); };
    const double scale = static_cast<double>(0.3f);
    BOOST_TEST(worst(third, [&](double x) { return std::exp2(scale * x); }, -1.f, 0.f, false) <= 2.6);
    for (float times : {1e-45f, 1e-30f, 0.3f, 1e30f, 3e38f}) {
        const auto f = [&](vf x) { return cpu::negative_power(times)(x); };
        BOOST_TEST(one(f, 0.f) == 1.f);
        BOOST_TEST(one(f, -inf) == (times < 1e-20f ? one(f, -3.4e38f) : 0.f));
        BOOST_TEST(one(f, -1e30f) >= one(f, -3e38f));
    }
}

/// What a lane gets does not depend on whether others need another way.
BOOST_AUTO_TEST_CASE(lanes_by_themselves) {
    const auto alone = [](vf (*f)(vf), float x) { return f(cpu::splat(x))[0]; };
    for (auto f : {+LIFT(exp), +LIFT(sigmoid), +LIFT(log), +LIFT(log1p), +LIFT(softplus), +LIFT(erfc)})
        for (float x : {0.37f, 2.6f, 41.f}) {
            vf mixed = cpu::splat(x);
            mixed[1] = 100.f, mixed[2] = -inf, mixed[3] = not_a_number;
            BOOST_TEST(f(mixed)[0] == alone(f, x));
        }
}

BOOST_AUTO_TEST_CASE(sigmoid_everywhere) {
    const auto f = LIFT(sigmoid);
    const auto r = [](double x) { return 1 / (1 + std::exp(-x)); };
    BOOST_TEST(worst(f, r, 0.f, inf, true) <= 2.5);
    BOOST_TEST(one(f, -0.f) == 0.5f);
    BOOST_TEST(one(f, -inf) == 0.f);
    BOOST_TEST(one(f, inf) == 1.f);
    BOOST_TEST(std::isnan(one(f, not_a_number)));
}

BOOST_AUTO_TEST_CASE(log_everywhere) {
    const auto f = LIFT(log);
    const auto r = [](double x) { return std::log(x); };
    BOOST_TEST(worst(f, r, 0.f, inf, false) <= 1.0);
    BOOST_TEST(worst(f, r, 0.5f, 2.f, false, 7) <= 1.0);
    BOOST_TEST(one(f, 1.f) == 0.f);
    BOOST_TEST(one(f, 0.f) == -inf);
    BOOST_TEST(one(f, -0.f) == -inf);
    BOOST_TEST(one(f, inf) == inf);
    for (float x : {-1.f, -inf, -1e-40f, not_a_number}) BOOST_TEST(std::isnan(one(f, x)));
}

BOOST_AUTO_TEST_CASE(tanh_everywhere) {
    const auto f = LIFT(tanh);
    const auto r = [](double x) { return std::tanh(x); };
    BOOST_TEST(worst(f, r, 0.f, inf, true) <= 3.0);
    BOOST_TEST(worst(f, r, 1e-3f, 10.f, true, 37) <= 3.0);
    BOOST_TEST(std::signbit(one(f, -0.f)));
    BOOST_TEST(one(f, -inf) == -1.f);
    BOOST_TEST(std::isnan(one(f, not_a_number)));
}

BOOST_AUTO_TEST_CASE(erf_everywhere) {
    const auto f = LIFT(erf);
    const auto r = [](double x) { return std::erf(x); };
    BOOST_TEST(worst(f, r, 0.f, inf, true) <= 2.3);
    BOOST_TEST(worst(f, r, 0.5f, 4.f, true, 37) <= 2.3);
    BOOST_TEST(std::signbit(one(f, -0.f)));
    BOOST_TEST(one(f, -inf) == -1.f);
    BOOST_TEST(std::isnan(one(f, not_a_number)));
}

BOOST_AUTO_TEST_CASE(quotients_in_their_range) {
    BOOST_TEST(worst(LIFT(reciprocal), [](double x) { return 1 / x; }, 0x1p-125f, 0x1p125f, true) <=
               (has_multiply_add ? 2 : 4));
    BOOST_TEST(worst(LIFT(reciprocal_sqrt), [](double x) { return 1 / std::sqrt(x); }, 0x1p-125f, 0x1p125f, false) <=
               (has_multiply_add ? 3 : 4));
    BOOST_TEST(worst([](vf x) { return cpu::quotient(cpu::splat(0.7f), x); },
                     [](double x) { return static_cast<double>(0.7f) / x; }, 0x1p-120f, 0x1p120f, true) <=
               (has_multiply_add ? 2 : 4));
}

BOOST_AUTO_TEST_CASE(philox_agrees_with_the_scalar_generator) {
    // Known answers of the Random123 distribution, word 0.
    BOOST_TEST(philox4x32({{0, 0, 0, 0}}, 0).word[0] == 0x6627e8d5u);
    for (std::uint64_t key : {std::uint64_t{0}, std::uint64_t{0x0123456789abcdef}, ~std::uint64_t{0}})
        for (std::uint64_t step : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{0xfedcba9876543210}})
            for (std::uint32_t first : {0u, 1000u, 0xfffffff0u}) {
                const auto index = [&](int i) { return first + static_cast<std::uint32_t>(i); };
                cpu::vu low{}, word[4];
                for (int i = 0; i < lanes; ++i) low[i] = index(i);
                cpu::philox_blocks(key, step, low, cpu::vu{} + 3u, word);
                for (int i = 0; i < lanes; ++i)
                    for (int k = 0; k < 4; ++k)
                        BOOST_TEST(std::uint32_t{word[k][i]} ==
                                   philox_at(key, std::uint64_t{3} << 32 | index(i), step).word[k]);
            }
}

BOOST_AUTO_TEST_CASE(words_of_a_stream) {
    constexpr std::uint64_t key = 0x0123456789abcdef, step = 0xfedcba9876543210;
    random_stream in_order(key, step);
    for (std::uint64_t i = 0; i < 20; ++i) BOOST_TEST(philox_word(key, i, step) == in_order.word());
    for (std::uint64_t first :
         {0ull, 1ull, 2ull, 3ull, 4ull, 1001ull, 0xfffffffeull, 0xffffffffull, 0x300000000ull, 0xfffffffffffull}) {
        const cpu::vu side_by_side = cpu::philox_words(key, step, first);
        const cpu::word_pair pair = cpu::philox_word_pair(key, step, first);
        for (int i = 0; i < lanes; ++i) {
            BOOST_TEST(std::uint32_t{pair.front[i]} == std::uint32_t{side_by_side[i]});
            BOOST_TEST(std::uint32_t{pair.back[i]} ==
                       philox_word(key, first + static_cast<std::uint64_t>(lanes + i), step));
        }
        for (std::uint32_t apart : {1u, 3u, 10u, 100'000u}) {
            const cpu::vu got = cpu::philox_words(key, step, first, apart);
            for (int i = 0; i < lanes; ++i) {
                BOOST_TEST(std::uint32_t{got[i]} ==
                           philox_word(key, first + static_cast<std::uint64_t>(i) * apart, step));
                if (apart == 1) BOOST_TEST(std::uint32_t{got[i]} == std::uint32_t{side_by_side[i]});
            }
        }
    }
}
