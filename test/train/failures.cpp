// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE failures
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>
#include <cmath>

// A device that fails in the middle (a GPU may) leaves the trainer with its parameters and states, and with a word on
// what happened; so does a device whose memory the host cannot see, for which outputs are copied.
using namespace sinter;
using namespace sinter::compiler;
using namespace sinter::runtime;

/// The processor, that fails in its next run when it is told to.
struct fragile_device : cpu_device {
    using cpu_device::cpu_device;
    static constexpr bool shares_memory = false;
    static inline bool fails = false;
    static inline int copies = 0;

    template <class P, class Observer = unobserved>
    void run(runner<P>& r, const step_arguments& s, Observer observe = {}) {
        if (fails) throw device_error("lost", "run");
        cpu_device::run<P>(r, s, observe);
    }
    const float* host_view(const model_memory& m, address from, float* workspace, std::int64_t floats) const {
        ++copies;
        read(m, from, workspace, floats);
        return workspace;
    }
};

constexpr auto net = features<3> >> dense<5> >> batch_norm >> relu >> dense<2>;
template <class Device>
using trainer_of = trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, momentum, 4, single<Device>>;

static const float x[12] = {1, 2, 3, -1, 0, 1, 4, 4, 2, 0, 0, -3};
static const std::int32_t labels[4] = {0, 1, 1, 0};
static const data::batch_view batch{.x = x, .labels = labels, .size = 4};

template <class Trainer>
static std::vector<float> everything(const Trainer& t) {
    std::vector<float> all{static_cast<float>(t.steps())};
    auto add = [&](const std::vector<float>& v) { all.insert(all.end(), v.begin(), v.end()); };
    for (int i = 0; i < t.parameters(); ++i) add(t.plain(t.parameter(i))), add(t.plain_slot(t.parameter(i), 0));
    for (int i = 0; i < t.states(); ++i) add(t.plain(t.state(i)));
    return all;
}

BOOST_AUTO_TEST_CASE(a_device_that_fails_keeps_the_parameters_where_they_belong) {
    trainer_of<fragile_device> t(momentum{}, {.threads = 1});
    t.step(batch);
    t.step(batch);
    for (const bool known : {false, true}) {   // the first time, when the other programs are made, and later
        const auto before = everything(t);
        fragile_device::fails = true;
        BOOST_CHECK_THROW(t.evaluate(batch), device_error);
        BOOST_TEST(t.output().empty());
        BOOST_CHECK_THROW(t.predict(batch), device_error);
        BOOST_CHECK_THROW(t.step(batch), device_error);
        BOOST_TEST(t.output().empty());
        fragile_device::fails = false;
        BOOST_TEST((everything(t) == before), "known: " << known);
        BOOST_TEST(t.evaluate(batch) > 0.f);
        BOOST_TEST(t.predict(batch).size() == 8u);
        BOOST_TEST((everything(t) == before));
    }
    trainer_of<cpu_device> undisturbed(momentum{}, {.threads = 1});
    for (int i = 0; i < 4; ++i) undisturbed.step(batch);
    t.step(batch);
    t.step(batch);
    BOOST_TEST((everything(t) == everything(undisturbed)));
}

/// All outputs after a call, by output().
template <class Trainer>
static std::vector<float> outputs(const Trainer& t) {
    const auto y = t.output();
    return {y.begin(), y.end()};
}
BOOST_AUTO_TEST_CASE(outputs_of_the_last_call_whatever_it_was) {
    trainer_of<fragile_device> far(momentum{}, {.threads = 1});
    trainer_of<cpu_device> near(momentum{}, {.threads = 1});
    BOOST_TEST(near.output().empty());   // there was none
    for (int round = 0; round < 3; ++round) {
        data::batch_view fewer = batch;
        fewer.size = 3 - round;
        const auto predicted = (near.predict(fewer), outputs(near));
        BOOST_TEST(predicted.size() == static_cast<std::size_t>(2 * fewer.size));
        far.predict(fewer);
        BOOST_TEST((outputs(far) == predicted));
        near.evaluate(fewer), far.evaluate(fewer);
        BOOST_TEST((outputs(near) == predicted));
        BOOST_TEST((outputs(far) == predicted));
        near.step(batch), far.step(batch);
        const auto trained = outputs(near);
        BOOST_TEST(trained.size() == 8u);
        BOOST_TEST((trained != predicted));   // the batch's own mean and variance, not the running ones
        BOOST_TEST((outputs(far) == trained));
    }
    // What nobody asks for is not copied.
    const int copies = fragile_device::copies;
    far.step(batch);
    far.evaluate(batch);
    BOOST_TEST(fragile_device::copies == copies);
}
/// The outputs of a step belong to the weights before it: its loss follows from them.
BOOST_AUTO_TEST_CASE(outputs_of_a_step_are_those_of_its_loss) {
    trainer_of<cpu_device> t(momentum{}, {.threads = 1});
    for (int i = 0; i < 5; ++i) {
        const float loss = t.step(batch);
        double want = 0;
        const auto y = t.output();
        for (std::size_t e = 0; e < 4; ++e) {
            const double a = y[2 * e], b = y[2 * e + 1];
            want += (std::log(std::exp(a) + std::exp(b)) - (labels[e] ? b : a)) / 4;
        }
        BOOST_TEST(std::abs(loss - want) < 1e-6 * (1 + want), "loss " << loss << ", from the outputs " << want);
    }
}
BOOST_AUTO_TEST_CASE(a_gradient_that_is_nowhere_stored) {
    trainer_of<cpu_device> t(momentum{}, {.threads = 1});
    t.step(batch);
    int missing = 0;
    for (int i = 0; i < t.parameters(); ++i) {
        if (t.parameter(i).gradient.where() != space::none) continue;
        ++missing;
        check_error<option_error>([&] { t.gradient(t.parameter(i)); }, "uses this gradient up",
                                  t.path(t.parameter(i)), "", "store_gradients");
    }
    BOOST_TEST(missing > 0);
}
