// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE accumulate
#include <boost/test/unit_test.hpp>
#include <sinter/device/cpu.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/train/checkpoint/checkpoint.hpp>
#include <sinter/train/optimizers/accumulate.hpp>
#include <sinter/train/optimizers/adam.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/moving_average.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "io/temporary_folder.hpp"
#include "support/optimizer_run.hpp"

using namespace sinter;
using namespace sinter::test;

/// Eight examples, as one batch or as several.
struct examples {
    float x[24], y[16];
    examples() {
        random_stream r(5);
        for (float& e : x) e = r.uniform(-2, 2);
        for (float& e : y) e = r.uniform(-2, 2);
    }
    data::batch_view part(int i, int parts) const {
        const int n = 8 / parts;
        return {.x = x + 3 * n * i, .y = y + 2 * n * i, .size = n};
    }
};
/// Batches of two examples against one batch of eight, in 30 updates.
template <program_options O = program_options{}, class Optimizer>
static void compare(const Optimizer& o) {
    small_trainer<Optimizer, O> whole(o, {.threads = 1});
    small_trainer<accumulated<4, Optimizer>, O> parts(accumulate<4>(o), {.threads = 1});
    start(whole);
    start(parts);
    const examples all;
    for (int update = 0; update < 30; ++update) {
        whole.step(all.part(0, 1));
        const std::vector<float> before = all_parameters(parts);
        for (int i = 0; i < 4; ++i) {
            BOOST_TEST(all_parameters(parts) == before, boost::test_tools::per_element());
            parts.step(all.part(i, 4));
        }
        const std::vector<float> a = all_parameters(whole), b = all_parameters(parts);
        for (std::size_t i = 0; i < a.size(); ++i)
            BOOST_TEST(std::abs(a[i] - b[i]) <= 2e-5f * (1 + std::abs(a[i])),
                       "parameter " << i << ", update " << update);
    }
}
BOOST_AUTO_TEST_CASE(like_one_large_batch) { compare(adam{.learning_rate = warm_up(3, 0.05f), .epsilon = 1e-4f}); }
BOOST_AUTO_TEST_CASE(norms_are_of_the_whole_gradient) {
    compare<program_options{.store_gradients = true}>(clip_by_global_norm{0.1f, lamb{.learning_rate = 0.02f}});
}
BOOST_AUTO_TEST_CASE(a_saved_run_goes_on_between_two_updates) {
    using trainer_type = small_trainer<accumulated<4, adam>>;
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    const adam o{.learning_rate = 0.05f};
    trainer_type t(accumulate<4>(o), {.threads = 1}), other(accumulate<4>(o), {.threads = 1, .seed = 7});
    const examples all;
    for (int i = 0; i < 6; ++i) t.step(all.part(i % 4, 4));
    save(t, file);
    load(other, file);
    for (int i = 6; i < 17; ++i) t.step(all.part(i % 4, 4)), other.step(all.part(i % 4, 4));
    BOOST_TEST(all_parameters(other) == all_parameters(t), boost::test_tools::per_element());
}

// A loss that is not finite in the midst of a round: weights, gathered gradients and the weight
// that they count stay, and the round goes on as if that batch had not been there.
template <class Net, class Loss, class Optimizer>
static void round_with_a_bad_batch(Net, Loss, const Optimizer& o, int bad_at) {
    trainer<Net, Loss, accumulated<3, Optimizer>, 8> t(accumulate<3>(o), {.threads = 1});
    trainer<Net, Loss, accumulated<3, Optimizer>, 8> undisturbed(accumulate<3>(o), {.threads = 1});
    const auto everything = [](const auto& of) {
        std::vector<float> all;
        const auto add = [&](const std::vector<float>& x) { all.insert(all.end(), x.begin(), x.end()); };
        for (int i = 0; i < of.parameters(); ++i) {
            add(of.plain(of.parameter(i)));
            for (int k = 0; k < of.slots_of(of.parameter(i)); ++k) add(of.plain_slot(of.parameter(i), k));
        }
        for (int i = 0; i < of.states(); ++i) add(of.plain(of.state(i)));
        return all;
    };
    const examples all;
    float large[16] = {};
    for (float& e : large) e = 1e30f;
    for (int step = 0; step < 9; ++step) {
        if (step % 3 == bad_at) {
            const std::vector<float> before = everything(t);
            BOOST_TEST(!std::isfinite(t.step({.x = all.x, .y = large, .size = 2})));
            BOOST_TEST(t.steps() == step);
            BOOST_TEST(everything(t) == before, boost::test_tools::per_element());
        }
        const int n = step % 3 + 1, first = step % 3 == 2 ? 3 : step % 3;
        const data::batch_view part{.x = all.x + 3 * first, .y = all.y + 2 * first, .size = n};
        BOOST_TEST(t.step(part) == undisturbed.step(part));
        BOOST_TEST(everything(t) == everything(undisturbed), boost::test_tools::per_element());
    }
}
BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_leaves_the_round_as_it_was) {
    constexpr auto net = features<3> >> dense<4> >> batch_norm >> dense<2>;
    constexpr auto squared = features<3> >> dense<4> >> dense<2>;
    constexpr parameter_groups grouped{adam{.learning_rate = 0.05f}, group_of<"*/bias">(sgd{.learning_rate = 0.1f})};
    for (int bad_at = 0; bad_at < 3; ++bad_at) {
        round_with_a_bad_batch(net, mse, adam{.learning_rate = 0.05f}, bad_at);
        round_with_a_bad_batch(squared, mse, moving_average{0.9f, grouped}, bad_at);
    }
}
