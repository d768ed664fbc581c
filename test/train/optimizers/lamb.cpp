// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE lamb
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/lamb.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(as_keras) { check_training(lamb{.learning_rate = 0.05f}, golden::lamb); }
BOOST_AUTO_TEST_CASE(threads_do_not_change_a_bit) {   // a kernel of 8192 weights is summed in parts
    constexpr auto net = features<64> >> dense<128> >> activation::tanh >> dense<8>;
    using trainer_type = trainer<std::remove_const_t<decltype(net)>, mse_loss, lamb, 4>;
    trainer_type one({}, {.threads = 1}), three({}, {.threads = 3});
    std::vector<float> x(256), y(32);
    random_stream r(3);
    for (float& e : x) e = r.uniform(-1, 1);
    for (float& e : y) e = r.uniform(-1, 1);
    const data::batch_view batch{.x = x.data(), .y = y.data(), .size = 4};
    for (int i = 0; i < 5; ++i) BOOST_TEST(one.step(batch) == three.step(batch));
    BOOST_TEST(all_parameters(one) == all_parameters(three), boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(with_decay_inside_the_ratio) {
    check_training(lamb{.learning_rate = 0.05f, .weight_decay = 0.1f}, golden::lamb_decay);
}
/// Columns that only pad packed weights must not make the norms NaN.
BOOST_AUTO_TEST_CASE(with_an_epsilon_of_zero) {
    small_trainer<lamb> none(lamb{.learning_rate = 0.05f, .epsilon = 0}, {.threads = 1}),
        tiny(lamb{.learning_rate = 0.05f, .epsilon = 1e-20f}, {.threads = 1});
    start(none), start(tiny);
    const small_batch batch;
    for (int i = 0; i < 3; ++i) BOOST_TEST(none.step(batch) == tiny.step(batch));
    BOOST_TEST(all_parameters(none) == all_parameters(tiny), boost::test_tools::per_element());
}
