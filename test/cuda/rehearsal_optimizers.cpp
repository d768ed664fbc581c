// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE cuda_rehearsal_optimizers
#include <boost/test/unit_test.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "cuda/rehearsal.hpp"
#include "support/optimizer_run.hpp"

// Sums over parameters, groups of them, and launches that wait, in kernels for GPUs that the host runs.
using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

BOOST_AUTO_TEST_CASE(norms_of_tensors) { check_training<rehearsal_device>(lamb{.learning_rate = 0.05f}, golden::lamb); }
BOOST_AUTO_TEST_CASE(groups) {
    check_training<rehearsal_device>(
        parameter_groups{sgd{.learning_rate = 0.1f}, frozen<"dense/kernel">,
                         group_of<"*/kernel">(adamw{.learning_rate = 0.01f, .weight_decay = 0.1f})}, golden::grouped);
}
BOOST_AUTO_TEST_CASE(an_update_in_each_second_step) {   // of two equal batches: as one of them
    small_trainer<adam, program_options{}, rehearsal_device> each(adam{.learning_rate = 0.05f});
    small_trainer<accumulated<2, adam>, program_options{},
                  rehearsal_device> second(accumulate<2>(adam{.learning_rate = 0.05f}));
    start(each);
    start(second);
    const small_batch batch;
    for (int i = 0; i < 10; ++i) {
        each.step(batch);
        second.step(batch);
        second.step(batch);
    }
    const std::vector<float> a = all_parameters(each), b = all_parameters(second);
    for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-5f * (1 + std::abs(a[i])));
}
