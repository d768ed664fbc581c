// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE winograd
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/train/losses/softmax_cross_entropy.hpp>
#include <sinter/train/optimizers/momentum.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

#include <random>

/// Which convolutions a program computes by Winograd's minimal filtering, and what that does to
/// training. The kernels alone: test/kernel/winograd.cpp.
using namespace sinter;
using namespace sinter::compiler;

/// The tile of each convolution's kernel in the order of launches, 0 for direct ones.
template <class P>
static std::vector<int> tiles() {
    std::vector<int> t;
    for (int i = 0; i < P::v.n_launches; ++i) {
        const spec& s = P::v.specs[P::v.launches[i].spec];
        if (s.kind == op::conv || s.kind == op::conv_input_gradient || s.kind == op::conv_weight_gradient)
            t.push_back(s.extents[0] ? 0 : s.extents[1]);
    }
    return t;
}
using list = std::vector<int>;

constexpr auto pools = image<24, 24, 32> >> conv2d<32, 3> >> relu >> conv2d<32, 3> >> relu
    >> max_pool<3, window{.stride = 2}>
                    >> conv2d<48, 3> >> relu >> max_pool<2> >> conv2d<8, 5> >> conv2d<8, 3> >> global_avg_pool;
template <program_options O, program_mode M, bool Kernels = true>
using pools_program = compiled<request<std::remove_const_t<decltype(pools)>, softmax_cross_entropy_loss, sgd, M, 8,
                                       target{.lanes = 8, .parts = 8, .winograd = Kernels}, O>>;

BOOST_AUTO_TEST_CASE(choice) {
    constexpr auto prediction = program_mode::prediction, training = program_mode::training;
    // Pools compare the second one's values, and the third's.
    BOOST_TEST((tiles<pools_program<program_options{}, prediction>>() == list{4, 2, 2, 0, 0}));
    BOOST_TEST((tiles<pools_program<program_options{.winograd = winograd::f2}, prediction>>() == list{2, 2, 2, 0, 0}));
    BOOST_TEST((tiles<pools_program<program_options{.winograd = winograd::forbid}, training>>() == list(14, 0)));
    // the target has no such kernels
    BOOST_TEST((tiles<pools_program<program_options{}, training, false>>() == list(14, 0)));
}

constexpr auto fives = image<24, 24, 32> >> conv2d<64, 5> >> relu >> conv2d<32, 5> >> relu >> max_pool<2>
    >> conv2d<16, 5>
                    >> global_avg_pool;
template <program_options O>
using fives_program =
    compiled<request<std::remove_const_t<decltype(fives)>, softmax_cross_entropy_loss, sgd, program_mode::prediction,
                     8, target{.lanes = 8, .parts = 8, .winograd = true}, O>>;

BOOST_AUTO_TEST_CASE(choice_of_windows_of_five) {   // their tiles' errors are those of f4; few channels do not pay
    BOOST_TEST((tiles<fives_program<program_options{}>>() == list{2, 2, 0}));
    BOOST_TEST((tiles<fives_program<program_options{.winograd = winograd::f2}>>() == list{0, 0, 0}));
    BOOST_TEST((tiles<fives_program<program_options{.winograd = winograd::forbid}>>() == list{0, 0, 0}));
}

constexpr auto block = conv2d<64, 3> >> batch_norm >> relu >> conv2d<32, 5> >> batch_norm;
constexpr auto residual = image<12, 14, 8> >> conv2d<32, 1> >> relu >> [](tensor x) { return relu(x + block(x)); }
                       >> conv2d<48, 3, window{.padding = padding::valid}> >> relu >> global_avg_pool;

/// Losses of five steps of a net on images of `floats` each, then its parameters and states.
template <const auto& Net, int Floats, program_options O>
static auto five_steps(int threads, const list& expected) {
    using net = std::remove_cvref_t<decltype(Net)>;
    using model = trainer<net, softmax_cross_entropy_loss, momentum, build_options{6, O}>;
    if (O.winograd != winograd::forbid) BOOST_TEST((tiles<typename model::training>() == expected));
    model t(momentum{.learning_rate = 0.02f}, {.threads = threads, .seed = 42});
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> x(6 * Floats);
    std::vector<std::int32_t> labels{1, 5, 7, 3, 3, 2};
    std::vector<std::vector<float>> all(1);
    for (int step = 0; step < 5; ++step) {
        for (float& e : x) e = normal(random);
        data::batch_view b;
        b.size = step == 3 ? 5 : 6;
        b.x = x.data();
        b.labels = labels.data();
        all[0].push_back(t.step(b));
    }
    for (int i = 0; i < t.parameters(); ++i) all.push_back(t.plain(t.parameter(i)));
    for (int i = 0; i < t.states(); ++i) all.push_back(t.plain(t.state(i)));
    return all;
}
/// They are the direct kernels' but for rounding, and the same bits with any number of threads.
template <const auto& Net, int Floats>
static void check_training(const list& expected) {
    const auto direct = five_steps<Net, Floats, program_options{.winograd = winograd::forbid}>(1, {});
    const auto tiled = five_steps<Net, Floats, program_options{}>(1, expected);
    BOOST_REQUIRE(direct.size() == tiled.size());
    for (std::size_t i = 0; i < direct.size(); ++i) {
        float worst = 0;
        for (std::size_t k = 0; k < direct[i].size(); ++k)
            worst = std::max(worst, std::abs(direct[i][k] - tiled[i][k]) / (1 + std::abs(direct[i][k])));
        BOOST_TEST(worst <= 5e-4f, i << ": " << worst);
        BOOST_TEST((direct[i].size() < 100 || direct[i] != tiled[i]));   // these are other kernels
    }
    BOOST_TEST((five_steps<Net, Floats, program_options{}>(3, expected) == tiled));
}
BOOST_AUTO_TEST_CASE(training) { check_training<residual, 12 * 14 * 8>({0, 4, 2, 4, 4, 4, 2, 2, 4, 4, 0}); }

/// Before pools, too, where channels are many. One of 3 x 3 comes after the first, one of 2 x 2 is
/// in the second one's kernel.
constexpr auto deep_pools = image<14, 14, 64> >> conv2d<64, 3> >> relu >> max_pool<3, window{.stride = 2}>
    >> conv2d<48, 3> >> relu
                         >> max_pool<2> >> conv2d<8, 3> >> global_avg_pool;
BOOST_AUTO_TEST_CASE(training_before_pools) { check_training<deep_pools, 14 * 14 * 64>({4, 4, 0, 0, 0, 0, 0, 0}); }
