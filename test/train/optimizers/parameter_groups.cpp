// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE parameter_groups
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/adagrad.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "io/temporary_folder.hpp"
#include "support/optimizer_run.hpp"

// The net's paths: dense/kernel, dense/bias, dense_1/kernel, dense_1/bias.
using namespace sinter;
using namespace sinter::base;
using namespace sinter::compiler;
using namespace sinter::test;
namespace golden = fixture::optimizers;

static_assert(matches("*/bias", "dense/bias") && matches("*", "") && matches("a*c*", "abcbcd") && matches("ab", "ab"));
static_assert(!matches("*/bias", "dense/biases") && !matches("dense", "dense/kernel") && !matches("", "a"));
static_assert(!matches("a*b", "ac") && !matches("a", ""));

constexpr parameter_groups grouped{sgd{.learning_rate = 0.1f}, frozen<"dense/kernel">,
                                   group_of<"*/kernel">(adamw{.learning_rate = 0.01f, .weight_decay = 0.1f})};

BOOST_AUTO_TEST_CASE(each_by_its_own) { check_training(grouped, golden::grouped); }
BOOST_AUTO_TEST_CASE(what_is_frozen_takes_no_memory) {
    using t = small_trainer<std::remove_const_t<decltype(grouped)>>;
    using p = small_trainer<adamw>;
    constexpr auto& some = t::training::v;
    constexpr auto& all = p::training::v;
    BOOST_TEST(some.parameters[0].group == frozen_group);
    BOOST_TEST(t::slots_of(some.parameters[0]) == 0);
    BOOST_TEST(t::slots_of(some.parameters[1]) == 2);
    BOOST_TEST(some.z.parameters == all.z.parameters);
    BOOST_TEST(some.z.trained == all.z.parameters - round_up(some.parameters[0].floats, 16));
    BOOST_TEST(some.floats(space::slot) == 2 * some.z.trained);
    BOOST_TEST(some.nodes < all.nodes);   // its gradient is not even computed
}
BOOST_AUTO_TEST_CASE(saved_and_resumed) {
    using t = small_trainer<std::remove_const_t<decltype(grouped)>>;
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    t a(grouped, {.threads = 1}), b(grouped, {.threads = 1, .seed = 7});
    const small_batch batch;
    for (int i = 0; i < 3; ++i) a.step(batch);
    save(a, file);
    const safetensors::file f = safetensors::read(file);
    BOOST_TEST(f.tensors.contains("optimizer/1/dense_1/kernel"));
    BOOST_TEST(!f.tensors.contains("optimizer/0/dense/kernel"));
    load(b, file);
    for (int i = 0; i < 3; ++i) a.step(batch), b.step(batch);
    BOOST_TEST(all_parameters(a) == all_parameters(b), boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(one_norm_over_all_groups) {   // two groups that are treated alike are one
    constexpr sgd rate{.learning_rate = 0.2f};
    const clip_by_global_norm whole{0.1f, rate};
    const clip_by_global_norm apart{0.1f, parameter_groups{rate, group_of<"*/bias">(rate)}};
    small_trainer<std::remove_const_t<decltype(whole)>> a(whole, {.threads = 1});
    small_trainer<std::remove_const_t<decltype(apart)>> b(apart, {.threads = 1});
    start(a);
    start(b);
    const small_batch batch;
    for (int i = 0; i < 20; ++i) BOOST_TEST(a.step(batch) == b.step(batch));
    BOOST_TEST(all_parameters(a) == all_parameters(b), boost::test_tools::per_element());
}
BOOST_AUTO_TEST_CASE(slots_begin_as_each_group_says) {
    const parameter_groups o{lamb{.learning_rate = 0.05f},
                             group_of<"*/bias">(adagrad{.learning_rate = 0.1f, .initial_accumulator = 0.25f})};
    small_trainer<std::remove_const_t<decltype(o)>> t(o, {.threads = 1});
    for (float e : t.plain_slot(t.parameter(0), 0)) BOOST_TEST(e == 0);
    for (float e : t.plain_slot(t.parameter(1), 0)) BOOST_TEST(e == 0.25f);
    start(t);   // kernels as by LAMB, biases as by Adagrad, in the first step
    t.step(small_batch());
    std::size_t i = 0;
    const std::vector<float> got = all_parameters(t);
    for (int k = 0; k < t.parameters(); ++k)
        for (std::int64_t n = 0; n < t.parameter(k).s.size(); ++n, ++i) {
            if (k % 2 == 0) BOOST_TEST(std::abs(static_cast<double>(got[i]) - golden::lamb[i]) < 1e-5);
            else BOOST_TEST(std::abs(static_cast<double>(got[i]) - golden::start[i]) > 1e-6);
        }
}
