// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE fused_producers
#include <boost/test/unit_test.hpp>

#include <sinter/device/cpu.hpp>
#include <sinter/expr/compose.hpp>
#include <sinter/layers/activation.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/norm.hpp>
#include <sinter/layers/pool.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/train/losses/mse.hpp>
#include <sinter/train/optimizers/sgd.hpp>
#include <sinter/train/trainer.hpp>

#include <random>

/// Walks that a 1 x 1 convolution runs as it reads: which ones, and that they change nothing.
/// (Random graphs: random_graphs.cpp; the kernel alone: kernel/conv_sparse.cpp.)
using namespace sinter;
using namespace sinter::compiler;

struct without_fused_producers : cpu_device {
    using cpu_device::cpu_device;
    static constexpr sinter::compiler::target target = [] {
        sinter::compiler::target t = cpu_device::target;
        t.fused_producers = false;
        return t;
    }();
};

template <class Model>
constexpr int leading = [] {
    int n = 0;
    for (int i = 0; i < Model::training::v.n_launches; ++i) n += Model::training::v.launches[i].is_producer;
    return n;
}();

constexpr int most = 6;
template <class Net, class Device = cpu_device>
using model_of = trainer<std::remove_const_t<Net>, mse_loss, sgd, most, single<Device>>;

/// Losses of a few steps and all weights and states after them.
template <class Model>
static std::vector<float> trained(int threads, int examples) {
    Model t(sgd{.learning_rate = 0.05f}, {.threads = threads, .seed = 5});
    constexpr auto& p = Model::training::v;
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> all, x(static_cast<std::size_t>(examples * p.inputs[0].s.size())),
        y(static_cast<std::size_t>(examples * p.targets[0].s.size()));
    for (int step = 0; step < 4; ++step) {
        for (float& e : x) e = normal(random);
        for (float& e : y) e = normal(random);
        data::batch_view b;
        b.size = examples;
        b.x = x.data();
        b.y = y.data();
        all.push_back(t.step(b));
    }
    for (int i = 0; i < t.parameters(); ++i)
        for (float w : t.plain(t.parameter(i))) all.push_back(w);
    for (int i = 0; i < t.states(); ++i)
        for (float w : t.plain(t.state(i))) all.push_back(w);
    return all;
}

/// As many lead as are expected, and the numbers are the same to the bit, for any number of threads.
template <class Net>
static void check(Net, int expected) {
    using led = model_of<Net>;
    using apart = model_of<Net, without_fused_producers>;
    BOOST_TEST(leading<led> == expected);
    BOOST_TEST(leading<apart> == 0);
    for (int examples : {most, 3, 1}) {
        const std::vector<float> want = trained<apart>(1, examples);
        for (float f : want) BOOST_REQUIRE(std::isfinite(f));
        for (int threads : {1, 2, 3}) BOOST_TEST((trained<led>(threads, examples) == want));
    }
}

template <int Channels>
inline constexpr auto pointwise = conv2d<Channels, 1, window{}, bias::no>;

BOOST_AUTO_TEST_CASE(normalised_pixels_forward_and_back) {
    // batch_norm and relu before each; batch_norm's gradient before the first one's input gradient
    check(image<9, 7, 5> >> conv2d<12, 3, window{}, bias::no> >> batch_norm >> relu >> pointwise<20> >> batch_norm
          >> relu >> pointwise<3> >> flatten, 3);
}
BOOST_AUTO_TEST_CASE(pixels_of_which_few_channels_go_out) {
    check(image<9, 18, 4> >> conv2d<32, 3> >> batch_norm >> relu >> pointwise<2> >> flatten, 1);
}
BOOST_AUTO_TEST_CASE(elements_in_the_order_of_memory) {   // and a slope that is kept for the gradient
    check(image<8, 8, 6> >> conv2d<18, 3> >> activation::tanh >> [](tensor x) { return ops::concat(x, x * 0.5f, 2); }
          >> activation::tanh >>
              pointwise<4> >> flatten, 1);
}
BOOST_AUTO_TEST_CASE(what_others_read_does_not_lead) {
    // y = z + conv(z): the kernel's own epilogue reads z, too
    check(image<6, 5, 4> >> conv2d<8, 3> >> batch_norm >> [](tensor z) { return z + pointwise<8>(z); } >> flatten, 0);
}
