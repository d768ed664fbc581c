// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE predictor
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/layers/rnn.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/predictor.hpp>
#include <cmath>
#include <limits>
#include <span>

// What a predictor says is what its model's own prediction program says, to the bit.
using namespace sinter;

constexpr auto net = features<36> >> dense<70> >> batch_norm >> relu >> dense<3>;
constexpr auto other = features<36> >> dense<3>;
constexpr auto words = indices<5> >> embedding<7, 4> >> rnn<3>;

static std::vector<float> numbers(std::size_t n) {
    std::vector<float> x(n);
    random_stream r(3);
    for (float& v : x) v = r.uniform() - 0.5f;
    return x;
}
template <class T>
static std::vector<float> copy(span<T> x) { return {x.begin(), x.end()}; }

static const std::vector<float> x = numbers(4 * 36);
static const std::int32_t labels[4] = {0, 2, 1, 1};
static const data::batch_view batch{.x = x.data(), .labels = labels, .size = 4};

BOOST_AUTO_TEST_CASE(one_example_and_several) {
    trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 4> model({}, {.threads = 1});
    for (int i = 0; i < 3; ++i) model.step(batch);   // running statistics, too, are no longer what they were
    predictor one{net, model};
    predictor many{net, max_batch<3>, model};
    static_assert(one.bytes() < many.bytes());
    for (int n = 1; n <= 3; ++n) {
        const auto size = static_cast<std::size_t>(n);
        const std::vector<float> want = copy(model.predict({.x = x.data(), .size = n}));
        BOOST_TEST_REQUIRE(want.size() == 3 * size);
        for (int again = 0; again < 2; ++again) BOOST_TEST(copy(many(std::span(x).first(36 * size))) == want);
    }
    for (std::size_t i = 0; i < 4; ++i) {
        const std::vector<float> want = copy(model.predict({.x = x.data() + 36 * i, .size = 1}));
        std::vector<float> y(3);
        one(std::span(x).subspan(36 * i, 36), y);
        BOOST_TEST(y == want);
    }
    // It keeps what it was given until it is told to take it anew.
    const std::vector<float> before = copy(one(std::span(x).first(36)));
    model.step(batch);
    const std::vector<float> after = copy(model.predict({.x = x.data(), .size = 1}));
    BOOST_TEST(before != after);
    BOOST_TEST(copy(one(std::span(x).first(36))) == before);
    one.take(model);
    BOOST_TEST(copy(one(std::span(x).first(36))) == after);

    std::vector<float> y(2);
    BOOST_CHECK_THROW(one(std::span(x).first(35)), data_error);
    BOOST_CHECK_THROW(one(std::span(x).first(72)), data_error);
    BOOST_CHECK_THROW(one(std::span(x).first(36), y), data_error);
    BOOST_CHECK_THROW(many(std::span(x).first(0)), data_error);
    BOOST_CHECK_THROW(many(std::span(x)), data_error);
    BOOST_CHECK_THROW((predictor{other, model}), option_error);
}

BOOST_AUTO_TEST_CASE(zeros_of_infinite_weights_are_not_left_out) {
    trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, sgd, 4> model({}, {.threads = 1});
    predictor p{net, model};
    bool found = false;
    for (int i = 0; i < model.parameters(); ++i) {
        const variable_info& v = model.parameter(i);
        if (v.s.size() != 70 * 3) continue;
        std::vector<float> w = model.plain(v);
        for (std::size_t unit = 0; unit < 70; ++unit) w[3 * unit] = std::numeric_limits<float>::infinity();
        model.set_plain(v, w.data());
        found = true;
    }
    BOOST_TEST_REQUIRE(found);
    BOOST_TEST(std::isfinite(p(std::span(x).first(36))[0]));
    p.take(model);
    const std::vector<float> y = copy(p(std::span(x).first(36))),
        want = copy(model.predict({.x = x.data(), .size = 1}));
    BOOST_TEST((std::isnan(y[0]) && std::isnan(want[0])));   // zero times infinity
    BOOST_TEST((y[1] == want[1] && y[2] == want[2]));
}

BOOST_AUTO_TEST_CASE(integers_and_loops) {
    estimator model{words, mse, sgd{}, max_batch<2>};
    predictor p{words, max_batch<2>, model};
    const std::int32_t read[10] = {0, 6, 3, 2, 2, 1, 5, 5, 0, 4};
    const data::input_view given[1] = {{.indices = read, .width = 5}};
    const data::batch_view two{.size = 2, .inputs = given};
    const std::vector<float> want = copy(model.predict(two));
    BOOST_TEST_REQUIRE(want.size() == 2 * 5 * 3);
    for (int again = 0; again < 2; ++again) BOOST_TEST(copy(p.predict(two)) == want);
    const std::int32_t unknown[5] = {0, 7, 0, 0, 0};
    const data::input_view wrong[1] = {{.indices = unknown, .width = 5}};
    BOOST_CHECK_THROW(p.predict({.size = 1, .inputs = wrong}), data_error);
}

BOOST_AUTO_TEST_CASE(weights_of_a_file) {
    const temporary_folder folder;
    trainer<std::remove_const_t<decltype(net)>, softmax_cross_entropy_loss, adam, 4> model({}, {.threads = 1});
    for (int i = 0; i < 3; ++i) model.step(batch);
    const std::vector<float> want = copy(model.predict(batch));
    for (const saved what : {saved::whole, saved::weights}) {
        const std::string path = folder / "net.safetensors";
        save(model, path, what);
        predictor p{net, max_batch<4>, weights_file(path)};
        BOOST_TEST(copy(p(x)) == want);
        predictor one{net, weights_file(path)};
        BOOST_TEST(copy(one(std::span(x).first(36))) == copy(model.predict({.x = x.data(), .size = 1})));
    }
    predictor p{net, max_batch<4>, model};
    trainer<std::remove_const_t<decltype(other)>, softmax_cross_entropy_loss, sgd, 4> stranger({}, {.threads = 1});
    save(stranger, folder / "other");
    check_error<mismatch_error>([&] { p.take(weights_file(folder / "other")); },
                                "tensors do not fit the program, 8 differences", folder / "other");
    BOOST_TEST(copy(p(x)) == want);
    BOOST_CHECK_THROW(weights_file(folder / "none"), io_error);
}
