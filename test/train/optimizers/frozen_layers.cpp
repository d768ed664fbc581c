// SPDX-License-Identifier: BSL-1.0
// shows training: a frozen layer runs as in inference
#define BOOST_TEST_MODULE frozen_layers
#include <boost/test/unit_test.hpp>
#include <sinter/sinter.hpp>
#include <sinter/layers/attention.hpp>
#include <sinter/layers/noise.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>
#include <sinter/train/optimizers/updated_elsewhere.hpp>

// A layer that is frozen runs as in inference while others are trained, as Keras' trainable = False.
using namespace sinter;

/// What a training step gives, beside what inference gives of the same weights; and how far states have moved.
struct difference {
    double outputs = 0, states = 0, parameters = 0;
};
template <class Net, class Optimizer>
static difference of_a_step(Net net, const Optimizer& o, int width) {
    trainer t{net, mse, o, max_batch<4>, {.threads = 1, .seed = 3}};
    std::vector<float> x, y(4);
    for (int i = 0; i < 4 * width; ++i) x.push_back(static_cast<float>((i * 7 + 3) % 11) * 0.3f);
    const data::batch_view batch{.x = x.data(), .y = y.data(), .size = 4};
    const auto all = [&](int n, auto variable) {
        std::vector<float> values;
        for (int i = 0; i < n; ++i) {
            const std::vector<float> one = t.plain(variable(i));
            values.insert(values.end(), one.begin(), one.end());
        }
        return values;
    };
    const auto states = [&] { return all(t.states(), [&](int i) -> auto& { return t.state(i); }); };
    const auto parameters = [&] { return all(t.parameters(), [&](int i) -> auto& { return t.parameter(i); }); };
    const auto most = [](const auto& a, const auto& b) {
        double d = 0;
        for (std::size_t i = 0; i < a.size(); ++i) d = std::max(d, std::abs(static_cast<double>(a[i] - b[i])));
        return d;
    };
    const auto p = t.predict(batch);
    const std::vector<float> predicted(p.begin(), p.end()), before = states(), weights = parameters();
    t.step(batch);
    const auto out = t.output();
    return {most(predicted, std::vector<float>(out.begin(), out.end())), most(before, states()),
            most(weights, parameters())};
}
constexpr sgd rate{.learning_rate = 0.1f};
constexpr auto trunk = dense<8> >> batch_norm >> relu >> dropout<0.5>;

BOOST_AUTO_TEST_CASE(a_frozen_trunk_infers) {
    constexpr auto net = features<4> >> named<"trunk">(trunk) >> named<"head">(dense<1>);
    const difference d = of_a_step(net, parameter_groups{rate, frozen<"trunk/*">}, 4);
    BOOST_TEST(d.outputs < 1e-5);
    BOOST_TEST(d.states == 0);
    BOOST_TEST(d.parameters > 0);   // of the head
    const difference wrapped = of_a_step(net, clip_by_global_norm{1.f, parameter_groups{rate, frozen<"trunk/*">}}, 4);
    BOOST_TEST(wrapped.outputs < 1e-5);
    BOOST_TEST(wrapped.states == 0);
}
BOOST_AUTO_TEST_CASE(frozen_weights_alone_train_on) {
    constexpr auto net = features<4> >> named<"trunk">(trunk) >> named<"head">(dense<1>);
    const difference d = of_a_step(net, parameter_groups{rate, frozen_weights<"trunk/*">}, 4);
    BOOST_TEST(d.outputs > 1e-3);
    BOOST_TEST(d.states > 1e-3);
}
BOOST_AUTO_TEST_CASE(not_all_of_a_layer) {   // of whose parameters one is trained
    constexpr auto net = features<4> >> dense<8> >> batch_norm >> dense<1>;
    for (const difference& d : {of_a_step(net, parameter_groups{rate, frozen<"*/gamma">}, 4),
                                of_a_step(net, parameter_groups{rate, group_of<"*/beta">(rate), frozen<"*">}, 4)}) {
        BOOST_TEST(d.outputs > 1e-3);
        BOOST_TEST(d.states > 1e-3);
    }
    const difference both = of_a_step(net, parameter_groups{rate, frozen<"*/gamma", "*/beta">}, 4);
    BOOST_TEST(both.outputs < 1e-5);
    BOOST_TEST(both.states == 0);
}
BOOST_AUTO_TEST_CASE(layers_without_parameters_by_their_path) {
    constexpr auto dropped = features<4> >> dense<16> >> dropout<0.5> >> dense<1>;
    BOOST_TEST(of_a_step(dropped, parameter_groups{rate, frozen<"dense/*">}, 4).outputs > 1e-3);
    BOOST_TEST(of_a_step(dropped, parameter_groups{rate, frozen<"dropout">}, 4).outputs < 1e-5);   // and no other
    constexpr auto noisy = features<4> >> named<"a">(dense<8> >> gaussian_noise<0.5>) >>
                           named<"b">(alpha_dropout<0.5> >> spatial_dropout<0.5>) >> dense<1>;
    BOOST_TEST(of_a_step(noisy, parameter_groups{rate, frozen<"a/*", "b/*">}, 4).outputs < 1e-5);
    BOOST_TEST(of_a_step(noisy, parameter_groups{rate, frozen<"a/*">}, 4).outputs > 1e-3);
}
BOOST_AUTO_TEST_CASE(attention_by_the_parameters_of_its_parts) {
    constexpr auto net = array<3, 4> >> named<"encoder">(multi_head_attention<2, attention_settings{.dropout = 0.5}>) >>
                         flatten >> dense<1>;
    BOOST_TEST(of_a_step(net, parameter_groups{rate, frozen<"encoder/*">}, 12).outputs < 1e-5);
    BOOST_TEST(of_a_step(net, parameter_groups{rate, frozen<"dense/*">}, 12).outputs > 1e-3);
    constexpr auto named_one = array<3, 4> >> named<"a">(multi_head_attention<2, attention_settings{.dropout = 0.5}>) >>
                               flatten >> dense<1>;
    constexpr auto parts = frozen<"a/query/*", "a/key/*", "a/value/*", "a/output/*">;
    BOOST_TEST(of_a_step(named_one, parameter_groups{rate, parts}, 12).outputs < 1e-5);
}
/// A layer of somebody's own asks as ours do, and states that it assigns stay.
struct counting : layer<counting> {
    static constexpr const char* name = "counting";
    static constexpr tensor trace(tensor x) {
        const tensor seen = state(x, "seen", extents(1), zeros);
        assign(seen, seen + 1.f);
        return x.g->trains() ? x * 2.f : x;
    }
};
BOOST_AUTO_TEST_CASE(layers_of_others) {
    constexpr auto net = features<4> >> named<"trunk">(dense<2> >> counting{}) >> dense<1>;
    const difference frozen_one = of_a_step(net, parameter_groups{rate, frozen<"trunk/*">}, 4),
                     trained = of_a_step(net, parameter_groups{rate, frozen<"trunk/dense/*">}, 4);
    BOOST_TEST(frozen_one.outputs < 1e-5);
    BOOST_TEST(frozen_one.states == 0);
    BOOST_TEST(trained.outputs > 1e-3);
    BOOST_TEST(trained.states == 1);
}
/// Workers' programs, whose updates servers make, are of the same graph.
template <class Optimizer>
static constexpr int assigned = [] {
    constexpr auto net = features<4> >> named<"trunk">(trunk) >> dense<1>;
    using request = compiler::request<std::remove_const_t<decltype(net)>, mse_loss, Optimizer, program_mode::training,
                                      4, cpu_device::target, program_options{}>;
    return detail::traced_stage<request>::v.c.assignments;
}();
using halves = std::remove_const_t<decltype(parameter_groups{rate, frozen<"trunk/*">})>;
static_assert(assigned<sgd> == 2 && assigned<halves> == 0 && assigned<updated_elsewhere<halves>> == 0);
