// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal_tables
#include <boost/test/unit_test.hpp>
#include <sinter/ops/cast.hpp>
#include <sinter/ops/rotary.hpp>
#include <sinter/ops/table.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/optimizers/accumulate.hpp>

#include "cuda/as_on_cpu.hpp"
#include "cuda/cases.hpp"

// Tables lie where GPU kernels find them, too; and attention, whose kernels need a whole block of threads.
using namespace sinter;

constexpr float factors[] = {1, -2, 3, 0.5f};
constexpr auto net = features<4> >> [](tensor x) {
    return x * ops::constants<factors>(x, extents(4)) + ops::table(x, extents(4), [](float* to, const shape&, float f) {
        for (int i = 0; i < 4; ++i) to[i] = f + static_cast<float>(i);
    }, 7.f);
};

BOOST_AUTO_TEST_CASE(are_found) {
    trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 2, single<test::rehearsal_device>> t(sgd{});
    const float x[] = {1, 1, 1, 1, 2, 2, 2, 2}, want[] = {8, 6, 12, 10.5f, 9, 4, 15, 11};
    data::batch_view b{.x = x};
    b.size = 2;
    const auto y = t.predict(b);
    for (std::size_t i = 0; i < 8; ++i) BOOST_TEST(y[i] == want[i]);
}

constexpr auto turning = array<3, 8> >> [](tensor x) {
    x = x * parameter(x, "w", extents(3, 8), ones);
    return rotary(rotary(x, {.heads = 2, .base = 20}), {.heads = 1, .pairs = position_pairs::neighbours, .base = 30});
};
using turning_net = std::remove_const_t<decltype(turning)>;

BOOST_AUTO_TEST_CASE(rotary_as_on_the_cpu) {
    trainer<turning_net, mse_loss, sgd, 2> a(sgd{}, {.threads = 1});
    trainer<turning_net, mse_loss, sgd, 2, single<test::rehearsal_device>> b(sgd{});
    float x[48], y[48];
    for (int i = 0; i < 48; ++i) x[i] = static_cast<float>(i % 7) - 3, y[i] = static_cast<float>(i % 5);
    data::batch_view batch{.x = x, .y = y};
    batch.size = 2;
    BOOST_TEST(std::abs(a.step(batch) - b.step(batch)) < 1e-4f);
    const auto wa = a.plain(a.parameter(0)), wb = b.plain(b.parameter(0));
    const auto ya = a.predict(batch), yb = b.predict(batch);
    for (std::size_t i = 0; i < 24; ++i) BOOST_TEST(std::abs(wa[i] - wb[i]) < 1e-5f);
    for (std::size_t i = 0; i < 48; ++i) BOOST_TEST(std::abs(ya[i] - yb[i]) < 1e-4f);
}

// More queries and keys than a tile has, and not a multiple of it; each kind of mask, bias and heads.
BOOST_AUTO_TEST_CASE(attention_as_on_the_cpu) {
    test::as_on_cpu<3>(test::cases::attentive, mse, sgd{.learning_rate = 0.1f}, test::examples(3, 420, 0, 1, 7).view());
}

BOOST_AUTO_TEST_CASE(segments_as_on_the_cpu) {
    test::as_on_cpu<3>(test::cases::packed, mse, sgd{.learning_rate = 0.1f}, test::examples(3, 420, 0, 1, 7).view());
}

// Tables that are updated lazily in a sweep, after their gradients were stored; the second is read twice.
BOOST_AUTO_TEST_CASE(lazy_sweeps_as_on_the_cpu) {
    constexpr auto tables = indices<6> >> [](tensor x) {
        const tensor once = parameter(x, "once", extents(13, 9), normal_of(0.5f));
        const tensor twice = parameter(x, "twice", extents(13, 5), normal_of(0.5f));
        const tensor a = gather_rows(once, x), b = gather_rows(twice, ops::slice(x, 0, 0, 3)),
            c = gather_rows(twice, x);
        return dense<10>(
            ops::concat({ops::reshape(a, extents(54)), ops::reshape(b, extents(15)), ops::reshape(c, extents(30))}));
    };
    const test::examples some(7, 0, 6, 13);
    test::as_on_cpu<7>(tables, softmax_cross_entropy, adam{}, some.view());
    test::as_on_cpu<7, program_options{.store_gradients = true}>(tables, softmax_cross_entropy, adam{}, some.view());
    test::as_on_cpu<7>(tables, softmax_cross_entropy, accumulate<2>(adam{}), some.view());
    test::as_on_cpu<7>(tables, softmax_cross_entropy, clip_by_global_norm{0.5f, adam{}}, some.view());
}
