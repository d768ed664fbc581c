// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE alternating
#include <boost/test/unit_test.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/optimizers/momentum.hpp>

#include <map>
#include <string>

#include "io/temporary_folder.hpp"
#include "support/gan_losses.hpp"

/// Two losses that take turns, against two trainers of one loss each that hand their weights to one another.
using namespace sinter;
using sinter::test::drawing, sinter::test::telling;
using namespace sinter::base;

constexpr auto net = features<4> >> [](tensor x) {
    constexpr auto critic = shared<"critic">(dense<6> >> batch_norm >> relu >> dense<1>);
    const tensor drawn = named<"generator">(dense<4>)(x * 0.5f);
    return outputs(critic(x), critic(drawn));
};
constexpr adam first{.learning_rate = 0.01f};
constexpr momentum second{.learning_rate = 0.05f};
constexpr alternating turns{phase<"critic/*">(telling{}, first, 2), phase<"generator/*">(drawing{}, second)};
constexpr int batch = 8;
using gan = alternating_trainer<std::remove_const_t<decltype(net)>, std::remove_const_t<decltype(turns)>, batch>;

constexpr parameter_groups first_alone{first, frozen_weights<"generator/*">};
constexpr parameter_groups second_alone{second, frozen_weights<"critic/*">};

static std::vector<float> numbers(std::uint64_t seed, int n = batch) {
    random_stream random(stream(seed, 1));
    std::vector<float> x(static_cast<std::size_t>(4 * n));
    for (float& v : x) v = random.normal();
    return x;
}
/// Everything that the trainer's nets own, by path.
static std::map<std::string, std::vector<float>> values_of(const auto& t) {
    std::map<std::string, std::vector<float>> all;
    for (int i = 0; i < t.parameters(); ++i) all[t.path(t.parameter(i))] = t.plain(t.parameter(i));
    for (int i = 0; i < t.states(); ++i) all[t.path(t.state(i))] = t.plain(t.state(i));
    return all;
}
static void hand_over(const auto& from, auto& to) {
    const auto x = values_of(from);
    for (int i = 0; i < to.parameters(); ++i) to.set_plain(to.parameter(i), x.at(to.path(to.parameter(i))).data());
    for (int i = 0; i < to.states(); ++i) to.set_plain(to.state(i), x.at(to.path(to.state(i))).data());
}

/// `alone_first`, `alone_second`: the phases' optimizers, each for a trainer in which the other's parameters rest.
template <class Turns, class First, class Second>
static void check_as_two_trainers(const Turns& turns, const First& alone_first, const Second& alone_second) {
    using both_type = alternating_trainer<std::remove_const_t<decltype(net)>, Turns, batch>;
    using first_type = trainer<std::remove_const_t<decltype(net)>, telling, First, batch>;
    using second_type = trainer<std::remove_const_t<decltype(net)>, drawing, Second, batch>;
    both_type both(turns, {.threads = 1});
    first_type a(alone_first, {.threads = 1});
    second_type b(alone_second, {.threads = 1});
    const int order[] = {0, 1, 1, 0, 0, 0, 1};
    for (std::uint64_t s = 0; s < std::size(order); ++s) {
        const std::vector<float> x = numbers(s);
        const data::batch_view view{.x = x.data(), .size = s == 3 ? 5 : batch};
        const float got = both.step(order[s], view), want = order[s] ? b.step(view) : a.step(view);
        BOOST_TEST(got == want);
        if (order[s]) hand_over(b, a);
        else hand_over(a, b);
        BOOST_TEST((values_of(both) == values_of(a)), "step " << s);
    }
    BOOST_TEST(both.phase_steps()[0] == 4);
    BOOST_TEST(both.phase_steps()[1] == 3);
    BOOST_TEST(both.steps() == 7);
    const std::vector<float> x = numbers(99);
    BOOST_TEST(both.evaluate({.x = x.data(), .size = batch}) == a.evaluate({.x = x.data(), .size = batch}));
    static_assert(both_type::bytes() >= first_type::bytes() && both_type::bytes() >= second_type::bytes());
}

BOOST_AUTO_TEST_CASE(as_two_trainers_by_turns) { check_as_two_trainers(turns, first_alone, second_alone); }
/// The norm of a phase is that of its own gradients, whatever others have left in memory.
BOOST_AUTO_TEST_CASE(each_phase_clips_by_its_own_norm) {
    constexpr clip_by_global_norm clipped_first{0.2f, first};
    constexpr clip_by_global_norm clipped_second{0.1f, second};
    check_as_two_trainers(
        alternating{phase<"critic/*">(telling{}, clipped_first), phase<"generator/*">(drawing{}, clipped_second)},
        clip_by_global_norm{0.2f, first_alone}, clip_by_global_norm{0.1f, second_alone});
}

BOOST_AUTO_TEST_CASE(resumes_bit_for_bit) {
    const temporary_folder folder;
    const std::string file = folder / "gan.safetensors";
    gan undisturbed(turns, {.threads = 1}), before(turns, {.threads = 1}), after(turns, {.threads = 1, .seed = 5});
    auto some = [](gan& g, std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t s = from; s < to; ++s) {
            const std::vector<float> x = numbers(s);
            g.step({.x = x.data(), .size = batch});
        }
    };
    some(undisturbed, 0, 8);
    some(before, 0, 4);
    save(before, file);
    load(after, file);
    BOOST_TEST((after.phase_steps() == before.phase_steps()));
    some(after, 4, 8);
    BOOST_TEST((values_of(after) == values_of(undisturbed)));
    BOOST_TEST((after.phase_steps() == undisturbed.phase_steps()));
    after.reset();
    BOOST_TEST(after.phase_steps()[0] == 0);
    BOOST_TEST(after.next_phase() == 0);
}

BOOST_AUTO_TEST_CASE(an_estimator_goes_by_the_schedule) {
    const std::vector<float> x = numbers(3, 5 * batch);
    const data::dataset set(batch_of(4), x);
    auto data = data::source(set) | data::batch(batch);
    estimator model{net, turns, max_batch<batch>, {.threads = 1}};
    const auto history = model.train(data, {.epochs = 3, .progress = nullptr});
    BOOST_TEST(model.inner().phase_steps()[0] == 10);
    BOOST_TEST(model.inner().phase_steps()[1] == 5);
    BOOST_REQUIRE(history[0].phase_losses.size() == 2u);
    BOOST_TEST(history[0].phase_losses[0] == history[0].loss);
    BOOST_TEST(history[0].phase_losses[1] > 0);
    BOOST_CHECK_THROW(model.inner().step(2, {.x = x.data(), .size = batch}), option_error);
    constexpr alternating never{phase<"critic/*">(telling{}, first, 0), phase<"generator/*">(drawing{}, second)};
    BOOST_CHECK_THROW(gan(never, {.threads = 1}), option_error);
}
/// Squares 0 and 9 of weights -1 and 1: their sum, as where one loss is trained.
BOOST_AUTO_TEST_CASE(weights_that_cancel) {
    constexpr auto constants = features<1> >> [](tensor x) {
        return x + parameter(x, "a", extents(1), zeros) + parameter(x, "b", extents(1), zeros);
    };
    constexpr sgd still{.learning_rate = 0.f};
    estimator model{constants, alternating{phase<"a">(weighted(mse), still), phase<"b">(weighted(mse), still)},
                    max_batch<2>, {.threads = 1}};
    data::dataset set(extents(1), std::vector<float>(4));
    set.targets(extents(1), {0, 3, 0, 3}).weights({-1, 1, -1, 1});
    auto data = data::source(set) | data::batch(2);
    const auto history = model.train(data, {.progress = nullptr});
    BOOST_TEST((history[0].phase_losses == std::vector<double>{9, 9}));
    BOOST_TEST(history[0].loss == 9);
}
