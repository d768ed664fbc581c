// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal_tables
#include <boost/test/unit_test.hpp>
#include <sinter/ops/rotary.hpp>
#include <sinter/ops/table.hpp>
#include <sinter/sinter.hpp>

#include "cuda/rehearsal.hpp"

// Tables lie where GPU kernels find them, too.
using namespace sinter;

constexpr float factors[] = {1, -2, 3, 0.5f};
constexpr auto net = features<4> >> [](tensor x) {
    return x * ops::constants<factors>(x, extents(4)) + ops::table(x, extents(4), [](float* to, const shape&, float f) {
        for (int i = 0; i < 4; ++i) to[i] = f + static_cast<float>(i);
    }, 7.f);
};

BOOST_AUTO_TEST_CASE(are_found) {
    trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 2, test::rehearsal_device> t(sgd{});
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
    trainer<turning_net, mse_loss, sgd, 2, test::rehearsal_device> b(sgd{});
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
