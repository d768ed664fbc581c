// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>
#include "cuda/device_part.hpp"
#include <iostream>

// The MLP and the quickstart net on a GPU beside PyTorch and beside the processor. Without a GPU they are compiled and linked, which the
// test says in a line that ctest looks for; what their kernels compute is then only known from the rehearsal.
using namespace sinter;

template <class Net, class Optimizer>
static void check(Net net, Optimizer optimizer, const double (&expected)[20]) {
    if (const std::string why = test::missing_gpu(); !why.empty()) {
        std::cout << "skipped: compiled and linked, but not run on a GPU: " << why << std::endl;
        BOOST_CHECK_THROW((trainer<Net, softmax_cross_entropy_loss, Optimizer, 64, cuda_device>(optimizer)), device_error);
        return;
    }
    const test::comparison c = test::compare_losses(net, optimizer, expected);
    BOOST_TEST(c.worst <= 1e-4, "step " << c.step << ": off by " << c.worst);
    BOOST_TEST(c.repeats);
}
BOOST_AUTO_TEST_CASE(mlp_sgd) { check(test::mlp, sgd{.learning_rate = 0.05f}, fixture::pytorch::mlp_sgd); }
BOOST_AUTO_TEST_CASE(mlp_adam) { check(test::mlp, adam{}, fixture::pytorch::mlp_adam); }
BOOST_AUTO_TEST_CASE(quickstart_sgd) { check(test::quickstart, sgd{.learning_rate = 0.05f}, test::quickstart_sgd); }
BOOST_AUTO_TEST_CASE(quickstart_adam) { check(test::quickstart, adam{}, test::quickstart_adam); }

BOOST_AUTO_TEST_CASE(estimator_under_a_strategy) {
    using model = decltype(estimator{test::mlp, softmax_cross_entropy, adam{}, single<cuda>{}});
    static_assert(std::is_same_v<model::trainer_type, trainer<std::remove_const_t<decltype(test::mlp)>,
                                                              softmax_cross_entropy_loss, adam, 64, cuda_device>>);
    using small = decltype(estimator{test::mlp, softmax_cross_entropy, adam{}, at_most<16>, single<cpu_device>{}});
    static_assert(std::is_same_v<small::trainer_type, trainer<std::remove_const_t<decltype(test::mlp)>,
                                                              softmax_cross_entropy_loss, adam, 16, cpu_device>>);
    BOOST_TEST(model::bytes() > 0);
}
