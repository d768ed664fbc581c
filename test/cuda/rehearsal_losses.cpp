// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal_losses
#include <boost/test/unit_test.hpp>
#include "cuda/nets.hpp"
#include "cuda/quickstart_losses.hpp"
#include "cuda/rehearsal.hpp"
#include "fixtures/pytorch_losses.hpp"

// The nets of the CUDA slice, their kernels run by the host, against PyTorch's losses in double precision.
using namespace sinter;
namespace golden = fixture::pytorch;

template <class Device, class Net, class Optimizer>
static void as_recorded(Net, Optimizer optimizer, const double (&expected)[20], int steps) {
    trainer<Net, softmax_cross_entropy_loss, Optimizer, 64, single<Device>> t(optimizer);
    test::set_weights(t);
    test::fixture_batch b;
    for (int step = 0; step < steps; ++step) {
        const float loss = t.step(b.of_step(step));
        BOOST_TEST_CONTEXT("step " << step)
        BOOST_TEST(std::abs(loss / expected[step] - 1) <= 1e-4, "got " << loss << ", needed " << expected[step]);
    }
}
using on_gpu = test::rehearsal_device;
BOOST_AUTO_TEST_CASE(mlp_sgd) { as_recorded<on_gpu>(test::mlp, sgd{.learning_rate = 0.05f}, golden::mlp_sgd, 20); }
BOOST_AUTO_TEST_CASE(mlp_adam) { as_recorded<on_gpu>(test::mlp, adam{}, golden::mlp_adam, 20); }
BOOST_AUTO_TEST_CASE(cnn_sgd) { as_recorded<on_gpu>(test::cnn, sgd{.learning_rate = 0.05f}, golden::cnn_sgd, 3); }
BOOST_AUTO_TEST_CASE(cnn_adam) { as_recorded<on_gpu>(test::cnn, adam{}, golden::cnn_adam, 3); }

// what the devices' own tests compare with
BOOST_AUTO_TEST_CASE(quickstart_sgd) {
    as_recorded<on_gpu>(test::quickstart, sgd{.learning_rate = 0.05f}, test::quickstart_sgd, 2);
    as_recorded<cpu_device>(test::quickstart, sgd{.learning_rate = 0.05f}, test::quickstart_sgd, 20);
}
BOOST_AUTO_TEST_CASE(quickstart_adam) { as_recorded<cpu_device>(test::quickstart, adam{}, test::quickstart_adam, 20); }
