// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE port_names
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/io/npz.hpp>
#include <sinter/sinter.hpp>
#include <sinter/strategy/mirrored.hpp>
#include <sinter/train/losses/per_output.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/metrics/mae.hpp>
#include <sinter/train/predictor.hpp>

// Inputs, outputs and targets with names: columns find their ports in any order, results and metrics are found by name.
// The truth is the same net without names, given its columns in order: all bits are the same.
using namespace sinter;

namespace {
constexpr auto body = [](tensor a, tensor b) { return bundle(dense<1>(a - 2.f * b), dense<3>(a * b)); };
constexpr auto plain = inputs(features<2>, features<2>) >> body;
constexpr auto net = inputs(input<"first">(features<2>), input<"second">(features<2>)) >> [](tensor a, tensor b) {
    const bundle y = body(a, b);
    return outputs(output<"price">(y[0]), output<"kind">(y[1]));
};
constexpr auto plain_loss = per_output(mse, softmax_cross_entropy);
constexpr auto loss = per_output(expects<"cost">(mse), expects<"class">(softmax_cross_entropy));

constexpr int n = 8;
std::vector<float> numbers(int count, int start) {
    std::vector<float> x;
    for (int i = 0; i < count; ++i) x.push_back(static_cast<float>((i * 7 + start) % 11) / 8.f);
    return x;
}
const std::vector<float> a = numbers(2 * n, 1), b = numbers(2 * n, 5), cost = numbers(n, 3);
const std::vector<std::int32_t> kinds{0, 1, 2, 2, 1, 0, 1, 2};

data::dataset in_order() {
    data::dataset set;
    set.input(extents(2), a).input(extents(2), b).targets(extents(1), cost).labels(kinds, 3);
    return set;
}
/// Columns in another order, and some that nobody asks for.
data::dataset mixed_up() {
    data::dataset set;
    set.labels(kinds, 3).named("class").input(extents(2), b).named("second");
    set.targets(extents(1), numbers(n, 9)).named("other").input(extents(5), numbers(5 * n, 2)).named("more");
    set.targets(extents(1), cost).named("cost").input(extents(2), a).named("first");
    return set;
}
template <class Model>
std::vector<float> after_training(Model&& model, const data::dataset& set) {
    auto batches = set | data::batch(4);
    model.train(batches, {.epochs = 2, .progress = nullptr});
    std::vector<float> all;
    for (int i = 0; i < 2; ++i)
        for (const float y : model.predict(batches, i)) all.push_back(y);
    const evaluation_result r = model.evaluate(batches);
    all.push_back(static_cast<float>(r.loss));
    return all;
}
template <class Strategy = single<cpu_device>>
auto named_model(Strategy s = {}) { return estimator{net, loss, adam{}, max_batch<4>, s, {.threads = 1}}; }
auto plain_model() { return estimator{plain, plain_loss, adam{}, max_batch<4>, {.threads = 1}}; }
} // namespace

BOOST_AUTO_TEST_CASE(columns_find_their_ports_in_any_order) {
    const std::vector<float> truth = after_training(plain_model(), in_order());
    BOOST_TEST(after_training(named_model(), in_order()) == truth);   // columns without names: by their places
    BOOST_TEST(after_training(named_model(), mixed_up()) == truth);
    BOOST_TEST(after_training(plain_model(), in_order().names({"x", "second", "class", "cost"})) == truth);
}
BOOST_AUTO_TEST_CASE(batches_that_are_cut_keep_their_names) {
    const mirrored<2> two;
    const std::vector<float> truth = after_training(named_model(two), in_order());
    BOOST_TEST(after_training(named_model(two), mixed_up()) == truth);
}
BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
    auto model = named_model();
    const auto refused = [&](data::dataset set, std::string_view fault, std::string_view where, std::string_view got,
                             std::string_view needed) {
        auto batches = set | data::batch(4);
        check_error<data_error>([&] { model.train(batches, {.progress = nullptr}); }, fault, where, got, needed);
        check_error<data_error>([&] { model.evaluate(batches); }, fault, where, got, needed);
        BOOST_TEST(model.inner().steps() == 0);
    };
    refused(in_order().names({"first", "secnd", "cost", "class"}), "no input of the name", "input second",
            "first, secnd", "second");
    refused(in_order().names({"first", "second", "price", "class"}), "no target of the name", "target cost",
            "price, class", "cost");
    refused(in_order().names({"first", "second", "class", "cost"}), "element type differs", "target cost", "int32",
            "float32");
    data::dataset one_name = data::dataset(extents(2), a).input(extents(2), b).named("second");
    one_name.targets(extents(1), cost).labels(kinds, 3);
    refused(one_name, "no input of the name", "input first", "(no name), second", "first");
    data::dataset wide = data::dataset(extents(4), numbers(4 * n, 0)).named("second");
    wide.input(extents(2), a).named("first").targets(extents(1), cost).labels(kinds, 3);
    refused(wide, "example of the wrong size", "input 1, second", "4", "2");

    const data::input_view twice[] = {{a.data(), nullptr, 2, "first"}, {b.data(), nullptr, 2, "second"},
                                      {b.data(), nullptr, 2, "first"}};
    check_error<data_error>([&] { model.predict({.size = 4, .inputs = {twice, 3}}); }, "two inputs of one name",
                            "input first", "first, second, first", "first");
    const data::input_view right[] = {{b.data(), nullptr, 2, "second"}, {a.data(), nullptr, 2, "first"}};
    BOOST_TEST(model.predict({.size = 4, .inputs = {right, 2}}).size() == 4u);
}

BOOST_AUTO_TEST_CASE(results_are_found_by_name) {
    auto model = named_model();
    auto batches = mixed_up() | data::batch(3);
    model.train(batches, {.progress = nullptr});
    const std::vector<float> price = model.predict(batches, 0), kind = model.predict(batches, 1);
    BOOST_TEST(model.predict(batches, "price") == price);
    BOOST_TEST(model.predict(batches, "kind") == kind);
    const auto all = model.predict_all(batches);
    const auto list = [](span<const float> x) { return std::vector<float>(x.begin(), x.end()); };
    BOOST_TEST(all.size() == n);
    BOOST_TEST(list(all.output("price")) == price);
    BOOST_TEST(list(all.output<"kind">()) == kind);
    BOOST_TEST(list(all.output(1)) == kind);

    auto p = predictor{net, model, max_batch<n>};
    const data::input_view columns[] = {{b.data(), nullptr, 2, "second"}, {a.data(), nullptr, 2, "first"}};
    const data::batch_view whole{.size = n, .inputs = {columns, 2}};
    BOOST_TEST(list(p.predict(whole, "kind")) == kind);
    BOOST_TEST(list(p.output<"price">()) == price);
    BOOST_TEST(list(p.output("price")) == price);
    model.predict({.size = 2, .inputs = {columns, 2}}, "kind");
    BOOST_TEST(model.inner().output<"kind">().size() == 6u);
    BOOST_TEST(model.inner().output("price").size() == 2u);

    const auto refused = [](auto call) {
        check_error<option_error>(call, "the net has no output of this name", "", "score", "price, kind");
    };
    refused([&] { model.predict(batches, "score"); });
    refused([&] { model.predict(whole, "score"); });
    refused([&] { all.output("score"); });
    refused([&] { p.output("score"); });

    const temporary_folder folder;
    npz::write(folder / "found.npz", all.entries());
    const npz::file file = npz::read(folder / "found.npz");
    BOOST_TEST(file.at("kind").shape == (std::vector<std::int64_t>{n, 3}));
    BOOST_TEST(std::memcmp(file.at("price").data.data(), price.data(), 4 * price.size()) == 0);
}
BOOST_AUTO_TEST_CASE(metrics_are_of_an_output_or_a_target) {
    auto model = named_model();
    auto batches = mixed_up() | data::batch(4);
    const evaluation_result r = model.evaluate(batches, metrics::named("by number", metrics::mae(), 0),
                                               metrics::named("by output", metrics::mae(), "price"),
                                               metrics::named("by target", metrics::mae(), "cost"),
                                               metrics::named("of kinds", metrics::accuracy(), "class"));
    const std::vector<float> price = model.predict(batches, "price"), kind = model.predict(batches, "kind");
    double error = 0, right = 0;
    for (std::size_t i = 0; i < n; ++i) {
        error += std::abs(price[i] - cost[i]) / n;
        const float* const k = &kind[3 * i];
        right += (std::max_element(k, k + 3) - k == kinds[i]) / static_cast<double>(n);
    }
    BOOST_TEST(r.value("by number") == error, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(r.value("by output") == r.value("by number"));
    BOOST_TEST(r.value("by target") == r.value("by number"));
    BOOST_TEST(r.value("of kinds") == right, boost::test_tools::tolerance(1e-12));
    check_error<option_error>([&] { model.evaluate(batches, metrics::named("m", metrics::mae(), "score")); },
                              "the net has no output of this name", "m", "score", "price, kind");
}

namespace {
constexpr auto picture = input<"picture">(image<2, 2, 1>) >> flatten >> dense<2> >> output<"scores">;
constexpr auto picture_loss = expects<"digit">(weighted(softmax_cross_entropy));
using picture_trainer = trainer<std::remove_cvref_t<decltype(picture)>, std::remove_cvref_t<decltype(picture_loss)>,
                                sgd, 4>;
} // namespace
BOOST_AUTO_TEST_CASE(bytes_and_weights) {
    BOOST_TEST(std::string_view(picture_trainer::training::v.targets[0].name) == "digit");
    BOOST_TEST(std::string_view(picture_trainer::training::v.targets[1].name) == "");   // weights are known as such
    const std::vector<std::byte> bytes{std::byte{0},   std::byte{51}, std::byte{255}, std::byte{102},
                                       std::byte{204}, std::byte{1},  std::byte{2},   std::byte{153}};
    data::dataset set = data::dataset(extents(4), numbers(8, 1)).named("noise");
    set.pixels(extents(2, 2, 1), bytes).named("picture").labels({1, 0}, 2).named("digit").weights({1.f, 2.f});
    picture_trainer t(sgd{}, {.threads = 1}), other(sgd{}, {.threads = 1});
    std::vector<float> x;
    for (const std::byte p : bytes) x.push_back(static_cast<float>(std::to_integer<int>(p)) / 255.f);
    const std::int32_t digits[] = {1, 0};
    const float weights[] = {1, 2};
    auto batches = set | data::batch(2);
    BOOST_TEST(t.step(*batches.next()) ==
               other.step({.x = x.data(), .labels = digits, .size = 2, .weights = weights}));
    BOOST_TEST(t.output<"scores">().size() == 4u);
}
BOOST_AUTO_TEST_CASE(nets_without_names_have_none) {
    using t = std::remove_cvref_t<decltype(plain_model().inner())>;
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(std::string_view(t::training::v.inputs[i].name).empty());
        BOOST_TEST(std::string_view(t::training::v.targets[i].name).empty());
        BOOST_TEST(std::string_view(t::training::v.output_names[i]).empty());
    }
}
