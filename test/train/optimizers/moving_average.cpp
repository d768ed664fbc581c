// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE moving_average
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "io/temporary_folder.hpp"
#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;
namespace golden = fixture::optimizers;

constexpr moving_average optimizer{0.9f, sgd{.learning_rate = 0.2f}};
using trainer_type = small_trainer<std::remove_const_t<decltype(optimizer)>>;

static std::vector<float> averages(const trainer_type& t) {
    std::vector<float> all;
    for (int i = 0; i < t.parameters(); ++i) {
        const std::vector<float> x = t.plain_slot(t.parameter(i), 0);
        all.insert(all.end(), x.begin(), x.end());
    }
    return all;
}
BOOST_AUTO_TEST_CASE(as_pytorch) { check_run(optimizer, golden::moving_average, 1e-5, averages); }
BOOST_AUTO_TEST_CASE(weights_are_exchanged_and_come_back) {
    trainer_type t(optimizer, {.threads = 1});
    BOOST_TEST(averages(t) == all_parameters(t), boost::test_tools::per_element());   // before the first step
    const small_batch batch;
    for (int i = 0; i < 5; ++i) t.step(batch);
    const std::vector<float> w = all_parameters(t), a = averages(t);
    BOOST_TEST(w != a);
    const float loss = t.evaluate(batch);
    {
        const averaged_weights in_their_place(t);
        BOOST_TEST(all_parameters(t) == a, boost::test_tools::per_element());
        BOOST_TEST(t.evaluate(batch) != loss);
    }
    BOOST_TEST(all_parameters(t) == w, boost::test_tools::per_element());
    BOOST_TEST(averages(t) == a, boost::test_tools::per_element());
    BOOST_TEST(t.evaluate(batch) == loss);
}
BOOST_AUTO_TEST_CASE(they_are_saved_with_the_rest) {
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    trainer_type t(optimizer, {.threads = 1}), other(optimizer, {.threads = 1, .seed = 7});
    const small_batch batch;
    for (int i = 0; i < 3; ++i) t.step(batch);
    save(t, file);
    load(other, file);
    for (int i = 0; i < 3; ++i) t.step(batch), other.step(batch);
    BOOST_TEST(averages(other) == averages(t), boost::test_tools::per_element());
}
