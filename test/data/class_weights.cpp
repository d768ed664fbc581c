// SPDX-License-Identifier: BSL-1.0
// shows data: splits, folds, scaling and class weights are scikit-learn's
#define BOOST_TEST_MODULE data_class_weights
#include <boost/test/unit_test.hpp>
#include "fixtures/scikit_learn.hpp"
#include "io/error_parts.hpp"
#include <sinter/data/transform/batch.hpp>
#include <sinter/data/class_weights.hpp>
#include <cmath>

using namespace sinter;
namespace golden = fixture::scikit_learn;
using ints = std::vector<std::int32_t>;

BOOST_AUTO_TEST_CASE(balanced_as_scikit_learn) {
    const ints labels(std::begin(golden::labels), std::end(golden::labels));
    const std::vector<float> weights = data::balanced_class_weights(labels, 6);
    BOOST_TEST(weights.size() == 6u);
    std::vector<double> wanted(6);   // 0 for what does not occur
    for (std::size_t i = 0; i < std::size(golden::classes); ++i)
        wanted[static_cast<std::size_t>(golden::classes[i])] = golden::balanced[i];
    for (std::size_t c = 0; c < 6; ++c) BOOST_TEST(std::abs(weights[c] - wanted[c]) < 1e-6);
    BOOST_TEST(data::balanced_class_weights(labels).size() == 5u);
    double sum = 0;
    for (const std::int32_t l : labels) sum += static_cast<double>(weights[static_cast<std::size_t>(l)]);
    BOOST_TEST(std::abs(sum / 40 - 1) < 1e-6);
}
BOOST_AUTO_TEST_CASE(examples_count_as_their_classes) {
    const data::dataset set = data::dataset(extents(1), {1, 2, 3, 4}).labels({2, 0, 0, 1});
    const std::vector<float> of_classes{0.5f, 3, 7};
    auto p = data::class_weighted(set, of_classes) | data::batch(4);
    const data::batch_view* const b = p.next();
    BOOST_TEST(b->weight_width == 1);
    BOOST_TEST((std::vector<float>(b->weights, b->weights + 4) == std::vector<float>{7, 0.5f, 0.5f, 3}));

    auto of_slice = data::class_weighted(set.slice(1, 2), of_classes) | data::batch(4);
    const data::batch_view* const s = of_slice.next();
    BOOST_TEST(s->size == 2);
    BOOST_TEST(s->x[0] == 2.f);
    BOOST_TEST(s->weights[1] == 0.5f);

    // several an example
    const data::dataset places = data::dataset(extents(1), {1, 2}).labels(extents(2), {0, 1, 1, 2});
    auto several = data::class_weighted(places, of_classes) | data::batch(2);
    const data::batch_view* const w = several.next();
    BOOST_TEST(w->weight_width == 2);
    BOOST_TEST((std::vector<float>(w->weights, w->weights + 4) == std::vector<float>{0.5f, 3, 3, 7}));
}
BOOST_AUTO_TEST_CASE(faults) {
    check_error<data_error>([] { (void)data::balanced_class_weights(ints{0, 3}, 3); }, "label out of range",
                            "balanced_class_weights, label 1", "3", "0 to 2");
    BOOST_CHECK_THROW((void)data::balanced_class_weights(ints{0, -1}), data_error);
    check_error<data_error>([] { (void)data::balanced_class_weights(ints{0, 2147483647}); }, "label out of range",
                            "balanced_class_weights, label 1", "2147483647", "0 to 16777215");
    const data::dataset set = data::dataset(extents(1), {1}).labels({2});
    check_error<data_error>([&] { (void)data::class_weighted(set, std::vector<float>{1, 1}); }, "label out of range",
                            "class_weighted, label 0", "2", "0 to 1");
    check_error<data_error>([] { (void)data::class_weighted(data::dataset(extents(1), {1}), std::vector<float>{1}); },
                            "the set has no labels", "class_weighted");
    const std::vector<float> three{1, 1, 1};
    BOOST_CHECK_THROW((void)data::class_weighted(data::class_weighted(set, three), three), data_error);
}
BOOST_AUTO_TEST_CASE(weights_that_are_none) {
    BOOST_CHECK_THROW((void)data::balanced_class_weights(ints{0}, -3), option_error);
    const data::dataset set = data::dataset(extents(1), {1}).labels({0});
    for (const float w : {NAN, INFINITY, -INFINITY})
        check_error<option_error>([&] { (void)data::class_weighted(set, std::vector<float>{1, w}); },
                                  "impossible weight of a class", "class_weighted, class 1");
    // negative ones are, as in weights()
    auto p = data::class_weighted(set, std::vector<float>{-1}) | data::batch(1);
    BOOST_TEST(p.next()->weights[0] == -1.f);
}
