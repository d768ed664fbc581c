// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE norms
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/adadelta.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/adamax.hpp>
#include <sinter/train/optimizers/clip_by_norm.hpp>
#include <sinter/train/optimizers/max_norm.hpp>
#include <sinter/train/optimizers/nadam.hpp>
#include <sinter/train/optimizers/rmsprop.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(each_gradient_is_clipped) {
    check_training(clip_by_norm{0.1f, sgd{.learning_rate = 0.2f}}, golden::clip_by_norm);
}
BOOST_AUTO_TEST_CASE(each_tensor_is_kept_small) {
    check_training(max_norm{0.8f, sgd{.learning_rate = 0.2f}}, golden::max_norm);
}

/// Columns that only pad packed weights must not make the norms NaN.
template <class Optimizer>
static void check_without_epsilon(const char* name) {
    small_trainer<max_norm<Optimizer>> none({0.8f, {.epsilon = 0}}, {.threads = 1}),
        tiny({0.8f, {.epsilon = 1e-30f}}, {.threads = 1});
    start(none), start(tiny);
    const small_batch batch;
    for (int i = 0; i < 3; ++i) BOOST_TEST(none.step(batch) == tiny.step(batch), name << ", step " << i);
    BOOST_TEST((all_parameters(none) == all_parameters(tiny)), name);
}
BOOST_AUTO_TEST_CASE(with_an_epsilon_of_zero) {
    check_without_epsilon<adagrad>("adagrad");
    check_without_epsilon<adadelta>("adadelta");
    check_without_epsilon<adamax>("adamax");
    check_without_epsilon<nadam>("nadam");
    check_without_epsilon<rmsprop>("rmsprop");
}
