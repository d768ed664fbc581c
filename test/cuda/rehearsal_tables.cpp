// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal_tables
#include <boost/test/unit_test.hpp>
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
