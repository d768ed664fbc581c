// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE rmsprop
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/rmsprop.hpp>

#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(as_pytorch) { check_training(rmsprop{.rho = 0.9f}, golden::rmsprop, 3e-5); }
BOOST_AUTO_TEST_CASE(with_momentum) {
    check_training(rmsprop_momentum{.rho = 0.9f, .momentum_rate = 0.5f}, golden::rmsprop_momentum, 3e-5);
}
BOOST_AUTO_TEST_CASE(centred) {
    check_training(centred_rmsprop{.rho = 0.9f, .epsilon = 1e-3f}, golden::centred_rmsprop, 3e-5);
}
BOOST_AUTO_TEST_CASE(centred_with_momentum) {
    const centred_rmsprop_momentum o{.rho = 0.9f, .epsilon = 1e-3f, .momentum_rate = 0.5f};
    check_training(o, golden::centred_rmsprop_momentum, 3e-5);
}
BOOST_AUTO_TEST_CASE(as_keras) {   // the epsilon within the root
    const centred_rmsprop_momentum o{.rho = 0.9f, .epsilon = 0, .epsilon_inside = 1e-4f, .momentum_rate = 0.5f};
    check_training(o, golden::keras_rmsprop, 3e-5);
}
