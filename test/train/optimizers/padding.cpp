// SPDX-License-Identifier: BSL-1.0
// shows numbers: padding of packed weights stays zero under every optimizer
// also: sse2 avx2 avx512
#define BOOST_TEST_MODULE padding
#include <boost/test/unit_test.hpp>

#include <sinter/expr/compose.hpp>
#include <sinter/expr/name.hpp>
#include <sinter/layers/conv2d.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/reshape.hpp>
#include <sinter/ops/relu.hpp>
#include <sinter/train/optimizers/clip.hpp>
#include <sinter/train/optimizers/lamb.hpp>
#include <sinter/train/optimizers/sgd.hpp>

#include "support/optimizer_run.hpp"

/// Packed weights are padded to whole vectors. Padding of gradients, weights and slots is zero, and norms do not count
/// it, whatever the extents are and however often a layer is used.
using namespace sinter;
using namespace sinter::test;

/// The raw floats at an address of parameter v that no plain number lies at.
template <class Trainer>
static float padding_of(const Trainer& t, const variable_info& v, compiler::address at) {
    const std::vector<float> ones(static_cast<std::size_t>(v.s.size()), 1.f);
    const auto places = t.packed(v, ones.data());
    std::vector<float> raw(places.x.size());
    t.session().read(at, raw.data(), static_cast<std::int64_t>(raw.size()));
    float most = 0;
    for (std::size_t i = 0; i < raw.size(); ++i)
        if (places.x[i] == 0.f && !(std::abs(raw[i]) <= most)) most = raw[i];
    return most;
}

struct numbers_of_a_batch {
    static constexpr int examples = 4;
    std::vector<float> x, y;
    numbers_of_a_batch(int inputs, int outputs) {
        random_stream r(7);
        for (int i = 0; i < inputs * examples; ++i) x.push_back(r.uniform(-1, 1));
        for (int i = 0; i < outputs * examples; ++i) y.push_back(r.uniform(-2, 2));
    }
    operator data::batch_view() const { return {.x = x.data(), .y = y.data(), .size = examples}; }
};

/// Under clip_by_global_norm{small, sgd{1}} a parameter moves by its stored gradient times the factor of all.
template <class Net>
static void check_clipping(Net net, const char* name) {
    constexpr double most = 0.01;
    trainer t{net, mse, clip_by_global_norm{float{most}, sgd{.learning_rate = 1.f}}, max_batch<4>,
              {.threads = 1, .seed = 3}};
    const numbers_of_a_batch batch(decltype(t)::training::v.inputs[0].s.size(), t.output_shape().size());
    for (int step = 0; step < 2; ++step) {
        std::vector<std::vector<float>> before;
        for (int i = 0; i < t.parameters(); ++i) {
            std::vector<float> x = t.plain(t.parameter(i));
            for (float& e : x) e = e * 0.5f + 0.25f;
            t.set_plain(t.parameter(i), x.data());
            before.push_back(x);
        }
        t.step(batch);
        double squares = 0;
        for (int i = 0; i < t.parameters(); ++i)
            for (const float e : t.gradient(t.parameter(i))) squares += static_cast<double>(e) * static_cast<double>(e);
        const double factor = std::min(1., most / (std::sqrt(squares) + 1e-6));
        for (int i = 0; i < t.parameters(); ++i) {
            const variable_info& v = t.parameter(i);
            BOOST_TEST(padding_of(t, v, v.gradient) == 0.f, name << ", gradient of " << t.path(v));
            BOOST_TEST(padding_of(t, v, v.at) == 0.f, name << ", " << t.path(v));
            const std::vector<float> d = t.gradient(v), x = t.plain(v);
            for (std::size_t k = 0; k < x.size(); ++k) {
                const double want = static_cast<double>(before[static_cast<std::size_t>(i)][k]) -
                                    static_cast<double>(d[k]) * factor;
                BOOST_TEST(std::abs(static_cast<double>(x[k]) - want) < 1e-6,
                           name << ", " << t.path(v) << ", number " << k << ": " << x[k] << ", needed " << want);
            }
        }
    }
}

template <int N>
static constexpr auto twice = features<3> >> dense<N> >> relu >> shared<"r">(dense<N>) >> activation::tanh >>
                              shared<"r">(dense<N>) >> shared<"r">(dense<N>) >> dense<1>;
BOOST_AUTO_TEST_CASE(dense_layers) {
    check_clipping(twice<1>, "dense<1>");
    check_clipping(twice<2>, "dense<2>");
    check_clipping(twice<17>, "dense<17>");
}
template <int Channels, int Window>
static constexpr auto convolved = image<4, 4, Channels> >> shared<"r">(conv2d<Channels, Window>) >> relu >>
                                  shared<"r">(conv2d<Channels, Window>) >> flatten >> dense<1>;
BOOST_AUTO_TEST_CASE(convolutions) {
    check_clipping(convolved<1, 1>, "conv2d<1, 1>");
    check_clipping(convolved<1, 3>, "conv2d<1, 3>");
    check_clipping(convolved<3, 3>, "conv2d<3, 3>");
}
BOOST_AUTO_TEST_CASE(recurrent_layers) {
    check_clipping(array<3, 1> >> shared<"r">(lstm<1>) >> flatten >> dense<1>, "lstm<1>");
}
/// Of each tensor alone, with a decay within the ratio; the slots, too.
BOOST_AUTO_TEST_CASE(ratios_of_lamb) {
    trainer t{twice<1>, mse, lamb{.learning_rate = 0.01f, .epsilon = 1e-2f, .weight_decay = 0.01f}, max_batch<4>,
              built_with<program_options{.store_gradients = true}>, {.threads = 1, .seed = 3}};
    std::vector<std::vector<float>> before;
    for (int i = 0; i < t.parameters(); ++i) {
        std::vector<float> x = t.plain(t.parameter(i));
        for (float& e : x) e += 0.7f;
        t.set_plain(t.parameter(i), x.data());
        before.push_back(x);
    }
    t.step(numbers_of_a_batch(3, 1));
    for (int i = 0; i < t.parameters(); ++i) {
        const variable_info& v = t.parameter(i);
        const std::vector<float> d = t.gradient(v), x = t.plain(v), &p = before[static_cast<std::size_t>(i)];
        std::vector<double> r;
        double own = 0, its = 0;
        for (std::size_t k = 0; k < p.size(); ++k) {
            const double g = static_cast<double>(d[k]), w = static_cast<double>(p[k]);
            r.push_back(g / (std::abs(g) + 1e-2) + 0.01 * w);
            own += w * w, its += r[k] * r[k];
        }
        for (std::size_t k = 0; k < p.size(); ++k) {
            const double want = static_cast<double>(p[k]) - 0.01 * std::sqrt(own / its) * r[k];
            BOOST_TEST(std::abs(static_cast<double>(x[k]) - want) < 1e-5, t.path(v) << ", number " << k);
        }
        for (int slot = 0; slot < 2; ++slot)
            BOOST_TEST(padding_of(t, v, t.packed(v, p.data(), slot).to) == 0.f, t.path(v) << ", slot " << slot);
    }
}
