// SPDX-License-Identifier: BSL-1.0
// shows numbers: what does not count touches nothing: padding, ignored labels, weights of 0 may be NaN
#define BOOST_TEST_MODULE padding
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>
#include <sinter/autodiff/gradient.hpp>
#include <sinter/layers/attention.hpp>
#include <sinter/layers/bidirectional.hpp>
#include <sinter/layers/embedding_bag.hpp>
#include <sinter/layers/gru.hpp>
#include <sinter/layers/lstm.hpp>
#include <sinter/layers/rnn.hpp>
#include <sinter/ops/square.hpp>
#include <bit>
#include <limits>

// What lies beyond an example's length touches nothing: with NaN or infinity there, losses,
// outputs, gradients and weights are to the bit those of the same net with zeros there.
using namespace sinter;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(),
    infinity = std::numeric_limits<float>::infinity();

template <class Net, class Length, int T, int F>
static std::vector<float> trained(float padding) {
    constexpr int examples = 3;
    trainer<Net, mse_loss, sgd,
            build_options{examples, program_options{.store_gradients = true}}> t(sgd{.learning_rate = 0.1f},
                                                                                                 {.threads = 1});
    const Length lengths[examples] = {Length(T - 1), 0, Length(T)};
    std::vector<float> x, y(static_cast<std::size_t>(examples * t.output_shape().size()), 0.25f);
    random_stream random(7);
    for (int e = 0; e < examples; ++e)
        for (int s = 0; s < T; ++s)
            for (int f = 0; f < F; ++f) {
                const float v = random.uniform(-1, 1);
                x.push_back(static_cast<float>(s) < static_cast<float>(lengths[e]) ? v : padding);
            }
    data::input_view in[2]{{x.data(), nullptr, F * T}, {}};
    if constexpr (std::is_same_v<Length, float>) in[1] = {lengths, nullptr, 1};
    else in[1] = {nullptr, lengths, 1};
    const data::batch_view b{.x = x.data(), .y = y.data(), .size = examples, .inputs = {in, 2},
                             .y_width = t.output_shape().size()};
    std::vector<float> seen;
    auto add = [&](span<const float> v) { seen.insert(seen.end(), v.begin(), v.end()); };
    for (int step = 0; step < 2; ++step) {
        seen.push_back(t.step(b));
        for (int i = 0; i < t.parameters(); ++i) add(t.gradient(t.parameter(i))), add(t.plain(t.parameter(i)));
    }
    seen.push_back(t.evaluate(b));
    add(t.predict(b));
    return seen;
}
template <class Length = float, int T = 5, int F = 3, class Net>
static void check(Net, const char* what) {
    const std::vector<float> zeros = trained<Net, Length, T, F>(0);
    bool moves = false;
    for (const float v : zeros) {
        BOOST_TEST(v - v == 0.f, what);
        moves = moves || v != 0.f;
    }
    BOOST_TEST(moves);
    for (const float padding : {not_a_number, infinity, -infinity, 3e38f}) {
        const std::vector<float> other = trained<Net, Length, T, F>(padding);
        bool same = other.size() == zeros.size();
        for (std::size_t i = 0; same && i < zeros.size(); ++i)
            same = std::bit_cast<int>(zeros[i]) == std::bit_cast<int>(other[i]);
        BOOST_TEST(same, what << " with " << padding << " in the padding");
    }
}

BOOST_AUTO_TEST_CASE(recurrent_layers) {
    check(inputs(array<5, 3>, array<1>) >> lstm<4>, "lstm");
    check(inputs(array<5, 3>, array<1>) >> gru<4>, "gru");
    check(inputs(array<5, 3>, array<1>) >> gru<4, recurrent_options{.sequences = false}, gru_reset::before_product>,
          "gru, last");
    check(inputs(array<5, 3>, array<1>) >> rnn<4>, "rnn");
    check(inputs(array<5, 3>, array<1>) >> rnn<4, recurrent_options{.reverse = true, .recompute = true}>,
          "rnn, reverse");
    check(inputs(array<5, 3>, array<1>) >> bidirectional(lstm<2>), "bidirectional");
}
BOOST_AUTO_TEST_CASE(extents_of_one_and_integers) {
    check<float, 5, 1>(inputs(array<5, 1>, array<1>) >> lstm<2>, "one feature");
    check<float, 1, 3>(inputs(array<1, 3>, array<1>) >> gru<2>, "one step");
    check<float, 5, 16>(inputs(array<5, 16>, array<1>) >> rnn<16>, "whole vectors");
    check<std::int32_t>(inputs(array<5, 3>, indices<>) >> lstm<2>, "int32 lengths");
}
BOOST_AUTO_TEST_CASE(behind_other_layers) {
    constexpr auto deep = [](tensor x, tensor lengths) {
        const tensor h = lstm<4>(x, lengths);
        return gru<3>(h, lengths);
    };
    check(inputs(array<5, 3>, array<1>) >> deep, "two layers");
}
BOOST_AUTO_TEST_CASE(attention_over_a_memory) {
    constexpr auto self = [](tensor x, tensor lengths) {
        return multi_head_attention<1, attention_settings{.head_width = 4}>(x, x, lengths);
    };
    check<std::int32_t>(inputs(array<5, 3>, indices<>) >> self, "attention");
    constexpr auto cross = [](tensor memory, tensor lengths) {
        const tensor queries = parameter(memory, "queries", extents(2, 3), {init_kind::uniform, 1.f});
        return multi_head_attention<3>(ops::broadcast_to(queries, batch_of(2, 3)), memory, lengths);
    };
    check<std::int32_t>(inputs(array<5, 3>, indices<>) >> cross, "queries of their own");
}
/// A net that has a gradient in it: training takes that of attention's gradient.
BOOST_AUTO_TEST_CASE(gradients_of_gradients_of_attention) {
    constexpr auto penalised = [](tensor x, tensor lengths) {
        const tensor q = ops::broadcast_to(parameter(x, "queries", extents(2, 3), {init_kind::uniform, 1.f}),
                                           batch_of(2, 3));
        const tensor k = x + parameter(x, "keys", extents(5, 3), {init_kind::uniform, 1.f}),
                     v = x + parameter(x, "values", extents(5, 3), {init_kind::uniform, 1.f});
        const tensor y = attention(q, k, v, {.lengths = lengths});
        return y + ops::gradient(ops::sum(ops::square(y), {0, 1}), q);
    };
    check<std::int32_t>(inputs(array<5, 3>, indices<>) >> penalised, "a gradient");
}
/// The weight of an index that is padding, and the table's row for it.
BOOST_AUTO_TEST_CASE(padding_in_bags) {
    constexpr auto net = inputs(indices<6>, array<6>) >> embedding_bag<8, 5, combine::mean, 2>;
    const auto trained_with = [&](float weight, float row) {
        trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 3> t(sgd{.learning_rate = 0.1f}, {.threads = 1});
        std::vector<float> table = t.plain(t.parameter(0)), w;
        std::fill_n(table.begin() + 10, 5, row);
        t.set_plain(t.parameter(0), table.data());
        std::vector<std::int32_t> bags;
        for (int k = 0; k < 18; ++k) {
            bags.push_back(k * 5 % 8);
            w.push_back(bags.back() == 2 ? weight : 0.5f);
        }
        const data::input_view in[2]{{nullptr, bags.data(), 6}, {w.data(), nullptr, 6}};
        const std::vector<float> y(15, 0.25f);
        std::vector<float> seen;
        for (int step = 0; step < 3; ++step) seen.push_back(t.step({.y = y.data(), .size = 3, .inputs = {in, 2}}));
        for (int i = 0; const float v : t.plain(t.parameter(0)))
            if (i++ / 5 != 2) seen.push_back(v);
        return seen;
    };
    const std::vector<float> zeros = trained_with(0, 0);
    BOOST_TEST(zeros[2] < zeros[0]);
    for (const float spoiled : {not_a_number, infinity}) {
        BOOST_TEST((trained_with(spoiled, 0) == zeros), "weight " << spoiled);
        BOOST_TEST((trained_with(0.5f, spoiled) == zeros), "row " << spoiled);
    }
}
BOOST_AUTO_TEST_CASE(lengths_out_of_range_are_refused) {
    constexpr auto net = inputs(array<4, 2>, array<1>) >> rnn<2, recurrent_options{.sequences = false}>;
    trainer<std::remove_const_t<decltype(net)>, mse_loss, sgd, 3> t(sgd{}, {.threads = 1});
    const float x[24] = {}, y[6] = {};
    float lengths[3] = {4, 0, 2.5f};
    const data::input_view in[2]{{x, nullptr, 8}, {lengths, nullptr, 1}};
    const data::batch_view b{.x = x, .y = y, .size = 3, .inputs = {in, 2}, .y_width = 2};
    t.step(b);
    for (const float wrong : {not_a_number, 5.f, 100.f, -1.f, infinity}) {
        lengths[2] = wrong;
        check_error<data_error>([&] { t.step(b); }, "length out of range", "input 1, example 2", "", "0 to 4");
        BOOST_CHECK_THROW(t.predict(b), data_error);
    }
    BOOST_TEST(t.steps() == 1);
}
