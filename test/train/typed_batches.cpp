// SPDX-License-Identifier: BSL-1.0
// shows data: a model trained from structs has the weights of one trained from arrays
#define BOOST_TEST_MODULE typed_batches
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/data/batches.hpp>
#include <sinter/data/stages/elements.hpp>
#include <sinter/data/stages/filter.hpp>
#include <sinter/data/stages/map.hpp>
#include <sinter/data/stages/shuffle.hpp>
#include <sinter/data/stages/source.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/losses/weighted.hpp>

// Models that are given pipelines of structs. The truth is the same model given the same numbers as arrays: all bits
// are the same.
using namespace sinter;

namespace {

struct sample {
    std::array<float, 2> x;
    std::uint8_t above;
    data::extra<int> number;
};
constexpr int n = 43, size = 8;   // the last batch has three
sample numbered(std::int64_t i) {
    const float a = static_cast<float>(i * 7 % 23) / 23, b = static_cast<float>(i * 5 % 19) / 19;
    return {{a, b}, a > b, {static_cast<int>(i)}};
}
std::vector<sample> samples(int count = n) {
    std::vector<sample> all;
    for (int i = 0; i < count; ++i) all.push_back(numbered(i));
    return all;
}
data::dataset set_of(const std::vector<sample>& all) {
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    for (const sample& s : all) {
        x.insert(x.end(), s.x.begin(), s.x.end());
        labels.push_back(s.above);
    }
    data::dataset set(extents(2), x);
    set.labels(labels, 2);
    return set;
}

constexpr auto net = features<2> >> dense<4> >> relu >> dense<2>;
auto model_of() {
    return estimator{net, softmax_cross_entropy, adam{.learning_rate = 1e-2f}, max_batch<size>, {.threads = 1}};
}
using model_type = decltype(model_of());
const train_options quiet{.epochs = 3, .progress = nullptr};
bool same_weights(const auto& a, const auto& b) { return a.save_to_memory() == b.save_to_memory(); }

/// Trained by arrays, one set for each pass.
model_type trained_by(const std::vector<data::dataset>& passes, bool drop = false) {
    model_type model = model_of();
    for (const data::dataset& set : passes)
        model.train(set | data::batch(size, {.drop_remainder = drop}), {.epochs = 1, .progress = nullptr});
    return model;
}
/// The sets of three passes of these stages, as a loop finds them.
std::vector<data::dataset> passes_of(const auto& stages) {
    std::vector<data::dataset> all;
    for (int pass = 0; pass < 3; ++pass) {
        std::vector<sample> one;
        for (const sample& s : data::elements(stages, pass)) one.push_back(s);
        all.push_back(set_of(one));
    }
    return all;
}

} // namespace

BOOST_AUTO_TEST_CASE(weights_are_those_of_arrays) {
    const auto set = set_of(samples());
    model_type truth = model_of();
    auto arrays = set | data::batch(size);
    const auto expected = truth.train(arrays, quiet);
    const auto check = [&](auto batches) {
        model_type model = model_of();
        const auto got = model.train(batches, quiet);
        BOOST_TEST(same_weights(model, truth));
        for (std::size_t e = 0; e < 3; ++e) {
            BOOST_TEST(got[e].loss == expected[e].loss);
            BOOST_TEST(got[e].examples == n);
        }
        BOOST_TEST((batches.position() == data::position{3, 0}));
        const evaluation_result a = model.evaluate(batches), b = truth.evaluate(arrays);
        BOOST_TEST(a.loss == b.loss);
        BOOST_TEST(a.accuracy == b.accuracy);
        BOOST_TEST(a.examples == n);
        BOOST_TEST(model.predict(batches) == truth.predict(arrays));
        BOOST_TEST(model.predict_all(batches).size() == n);
        BOOST_TEST((batches.position() == data::position{3, 0}));   // who looks leaves it where it was
    };
    check(data::rows(samples()) | data::batch(size));
    check(data::rows(samples()) | data::batch(size) | data::prefetch());
    check(data::from(n, numbered) | data::batch(size) | data::parallel(2));
    check(data::range(n) | data::map(numbered) | data::batch(size) | data::parallel(3) | data::prefetch(2));
    check(data::rows(samples()) | data::map([](const sample& s) { return std::pair{s.x, s.above}; })
          | data::batch(size));
}

BOOST_AUTO_TEST_CASE(shuffled_filtered_and_drawn) {
    const auto stages = data::rows(samples())
        | data::map([](const sample& s, random_stream& random) {
              return sample{{s.x[0] + random.uniform() / 10, s.x[1]}, s.above, s.number};
          })
        | data::shuffle({.seed = 5}) | data::filter([](const sample& s) { return s.number.value % 4 != 1; });
    for (const bool drop : {false, true}) {
        const model_type truth = trained_by(passes_of(stages), drop);
        for (const int threads : {0, 1, 4}) {
            model_type model = model_of();
            auto batches = stages | data::batch(size, {.drop_remainder = drop});
            if (threads) batches = std::move(batches) | data::parallel(threads);
            const auto results = model.train(batches, quiet);
            BOOST_TEST(same_weights(model, truth));
            BOOST_TEST(results[2].examples == 32);   // 43 without 11
        }
    }
}

BOOST_AUTO_TEST_CASE(training_goes_on_where_the_data_are) {
    const auto stages = data::rows(samples()) | data::shuffle();
    model_type whole = model_of(), parts = model_of();
    whole.train(stages | data::batch(size, {.drop_remainder = true}), {.epochs = 2, .progress = nullptr});

    auto batches = stages | data::batch(size, {.drop_remainder = true}) | data::parallel(2);
    BOOST_TEST((batches.position() == data::position{}));
    parts.train(batches, {.epochs = 1, .max_steps = 3, .progress = nullptr});
    BOOST_TEST((batches.position() == data::position{0, 3 * size}));
    const data::position there = batches.position();
    parts.evaluate(batches);
    parts.predict(batches);
    BOOST_TEST((batches.position() == there));
    auto again = stages | data::batch(size, {.drop_remainder = true});
    again.seek(there);
    parts.train(again, {.epochs = 2, .progress = nullptr});
    BOOST_TEST((again.position() == data::position{2, 0}));
    BOOST_TEST(same_weights(parts, whole));

    again.rewind();
    model_type anew = model_of();
    anew.train(again, {.epochs = 2, .progress = nullptr});
    BOOST_TEST(same_weights(anew, whole));
    auto fresh = stages | data::batch(size);
    for (auto* b : {&again, &fresh}) {
        BOOST_CHECK_THROW(b->seek({-1, 0}), option_error);
        BOOST_CHECK_THROW(b->seek({0, -1}), option_error);
    }
    BOOST_TEST((fresh.position() == data::position{}));
}

BOOST_AUTO_TEST_CASE(validation_and_loops_of_your_own) {
    auto arrays = set_of(samples()) | data::batch(size), held_out = set_of(samples(13)) | data::batch(size);
    auto train = data::rows(samples()) | data::batch(size), test = data::rows(samples(13)) | data::batch(size);
    model_type truth = model_of(), model = model_of();
    const auto expected = truth.train(arrays, {.epochs = 2, .validation = &held_out, .progress = nullptr});
    const auto got = model.train(train, {.epochs = 2, .validation = &model.pipeline_of(test), .progress = nullptr});
    for (std::size_t e = 0; e < 2; ++e) {
        BOOST_TEST(got[e].accuracy == expected[e].accuracy);
        BOOST_TEST(got[e].validation_loss == expected[e].validation_loss);
    }
    arrays.rewind();
    train.rewind();
    for (const data::batch_view& b : arrays) truth.inner().step(b);
    for (const data::batch_view& b : model.pipeline_of(train)) model.inner().step(b);
    BOOST_TEST(same_weights(model, truth));
    BOOST_TEST(model.predict(*model.pipeline_of(test).next())[0] == truth.predict(*held_out.next())[0]);
}

BOOST_AUTO_TEST_CASE(predictions_need_no_targets) {
    const auto set = set_of(samples());
    model_type model = model_of();
    auto arrays = set | data::batch(size);
    const auto expected = model.predict(arrays);
    const auto check = [&](auto batches) {
        BOOST_TEST(model.predict(batches) == expected);
        BOOST_TEST(model.predict_all(batches).output(0)[5] == expected[5]);
    };
    check(data::rows(samples()) | data::batch(size));
    check(data::rows(samples()) | data::map([](const sample& s) { return s.x; }) | data::batch(size));
    struct told { std::array<float, 2> x; std::string income; };   // what is no input may be of any type
    check(data::rows(samples()) | data::map([](const sample& s) { return told{s.x, "?"}; }) | data::batch(size));
    // What trains and what predicts take turns.
    auto batches = data::rows(samples()) | data::batch(size);
    model_type truth = model_of();
    for (int e = 0; e < 2; ++e) {
        model.train(batches, {.epochs = 1, .progress = nullptr});
        truth.train(arrays, {.epochs = 1, .progress = nullptr});
        BOOST_TEST(model.predict(batches) == truth.predict(arrays));
    }
}

BOOST_AUTO_TEST_CASE(what_a_value_must_not_be_is_still_refused) {
    auto wrong = samples();
    wrong[9].above = 2;
    model_type model = model_of();
    auto batches = data::rows(wrong) | data::batch(size);
    check_error<data_error>([&] { model.train(batches, quiet); }, "label out of range", "element 1", "2", "0 to 1");
    auto large = data::rows(samples()) | data::batch(size + 1);
    BOOST_CHECK_THROW(model.train(large, quiet), std::exception);
    auto failing = data::rows(samples()) | data::map([](const sample& s) {
        if (s.number.value == 20) throw data_error("cannot decode", "picture 20");
        return s;
    }) | data::batch(size) | data::parallel(2);
    check_error<data_error>([&] { model.train(failing, quiet); }, "cannot decode", "picture 20", "", "");
    BOOST_TEST((failing.position() == data::position{0, 16}));
    auto none = data::rows(std::vector<sample>{}) | data::batch(size);
    auto no_arrays = set_of(samples()).slice(0, 0) | data::batch(size);
    std::string expected;
    try {
        model.train(no_arrays, quiet);
    } catch (const std::exception& e) {
        expected = e.what();
    }
    try {
        model.train(none, quiet);
        BOOST_TEST(expected == "");
    } catch (const std::exception& e) {
        BOOST_TEST(e.what() == expected);
    }
}

namespace {
/// Predicts its validation data after each pass.
struct looks {
    model_type* model;
    decltype(data::rows(samples()) | data::batch(size))* at;
    std::size_t seen = 0;
    void epoch_end(auto&) { seen += model->predict(*at).size(); }
};
} // namespace

BOOST_AUTO_TEST_CASE(validation_data_may_be_predicted_meanwhile) {
    auto train = data::rows(samples()) | data::batch(size), test = data::rows(samples(13)) | data::batch(size);
    model_type model = model_of(), truth = model_of();
    looks hook{&model, &test};
    const auto got = model.train(train, {.epochs = 3, .validation = &model.pipeline_of(test), .progress = nullptr},
                                 hook);
    train.rewind();
    const auto expected = truth.train(train, {.epochs = 3, .validation = &truth.pipeline_of(test),
                                              .progress = nullptr});
    BOOST_TEST(hook.seen == 3u * 13 * 2);
    for (std::size_t e = 0; e < 3; ++e) BOOST_TEST(got[e].validation_loss == expected[e].validation_loss);
}

namespace {

// Fields find inputs and targets of their name in any order; the weight is what is left.
struct flat {
    float importance;
    float price;
    data::extra<std::string> street;
    std::uint16_t district;
    data::pixels<2, 2> front;
    struct { float rooms[2]; } inside;
};
constexpr auto flats =
    inputs(input<"front">(image<2, 2, 1>), input<"district">(indices<1>), input<"rooms">(features<2>))
    >> [](tensor front, tensor district, tensor rooms) {
           return dense<1>(concat({flatten(front), flatten(embedding<5, 3>(district)), rooms}));
       };
constexpr auto loss = expects<"price">(weighted(mse));
flat numbered_flat(std::int64_t i) {
    flat f{};
    f.importance = static_cast<float>(i % 3) / 2;
    f.price = static_cast<float>(i * 3 % 7) / 7;
    f.district = static_cast<std::uint16_t>(i % 5);
    for (std::size_t b = 0; b < 4; ++b) f.front.bytes[b] = static_cast<std::uint8_t>(37 * i + 11 * static_cast<int>(b));
    f.inside.rooms[0] = static_cast<float>(i % 4);
    f.inside.rooms[1] = 1;
    return f;
}

} // namespace

BOOST_AUTO_TEST_CASE(names_weights_pixels_and_indices) {
    std::vector<float> prices, weights, rooms, fronts;
    std::vector<std::int32_t> districts;
    for (int i = 0; i < 21; ++i) {
        const flat f = numbered_flat(i);
        prices.push_back(f.price);
        weights.push_back(f.importance);
        rooms.insert(rooms.end(), f.inside.rooms, f.inside.rooms + 2);
        districts.push_back(f.district);
        for (const std::uint8_t b : f.front.bytes) fronts.push_back(static_cast<float>(b) / 255.f);
    }
    data::dataset set(extents(2, 2, 1), fronts);
    set.named("front").input(extents(1), districts).named("district").input(extents(2), rooms).named("rooms");
    set.targets(extents(1), prices).named("price").weights(weights);

    const auto made = [] { return estimator{flats, loss, sgd{}, max_batch<size>, {.threads = 1}}; };
    auto truth = made(), model = made();
    auto arrays = set | data::batch(size);
    auto batches = data::from(21, numbered_flat) | data::batch(size) | data::parallel(2);
    truth.train(arrays, quiet);
    model.train(batches, quiet);
    BOOST_TEST(same_weights(model, truth));
    BOOST_TEST(model.evaluate(batches).loss == truth.evaluate(arrays).loss);
    BOOST_TEST(model.predict(batches) == truth.predict(arrays));
    BOOST_TEST(model.predict(batches, 0) == truth.predict(arrays));
    description a, b;
    model.pipeline_of(batches).describe(a);
    model.pipeline_of(batches).describe(b);
    BOOST_TEST(a.text() == b.text());
    BOOST_TEST(a.text().find("\"price\"") != std::string::npos);
}
