// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE batches
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include <sinter/sinter.hpp>

// Batches that do not fit the program are refused with an error that says what, where, got and needed, before anything
// is computed: the trainer stays as it was.
using namespace sinter;

constexpr auto classifier = features<3> >> dense<2>;
constexpr auto regressor = features<3> >> dense<2>;
constexpr auto tagger = features<3> >> dense<10> >> reshape<5, 2>;   // a class for each of five places
constexpr auto words = indices<4> >> embedding<7, 3> >> flatten >> dense<2>;
constexpr auto pair = inputs(features<3>, features<2>) >> [](tensor a, tensor b) { return dense<2>(a) + dense<2>(b); };

template <const auto& Net, class Loss>
using trainer_of = trainer<std::remove_cvref_t<decltype(Net)>, Loss, sgd, 4>;
using classifier_trainer = trainer_of<classifier, softmax_cross_entropy_loss>;

static float x[30] = {1, 2, 3, 4, 5, 6};
static std::int32_t labels[10] = {0, 1, 1, 0};

template <class Trainer>
static std::vector<float> weights_of(const Trainer& t) {
    std::vector<float> all{static_cast<float>(t.steps())};
    for (int i = 0; i < t.parameters(); ++i)
        for (float w : t.plain(t.parameter(i))) all.push_back(w);
    return all;
}
/// step() and evaluate() refuse the batch with these four parts, and nothing has changed.
template <class Trainer>
static void refused(const data::batch_view& b, std::string_view fault, std::string_view where, std::string_view got,
                    std::string_view needed) {
    Trainer t(sgd{}, {.threads = 1});
    const auto before = weights_of(t);
    check_error<data_error>([&] { t.step(b); }, fault, where, got, needed);
    check_error<data_error>([&] { t.evaluate(b); }, fault, where, got, needed);
    BOOST_TEST(weights_of(t) == before);
}

BOOST_AUTO_TEST_CASE(every_size_up_to_the_maximum_fits) {
    classifier_trainer t(sgd{}, {.threads = 1});
    for (int n = 1; n <= 4; ++n) BOOST_TEST(t.step({.x = x, .labels = labels, .size = n}) > 0.f);
    BOOST_TEST(t.steps() == 4);
}
BOOST_AUTO_TEST_CASE(too_large_or_empty) {
    refused<classifier_trainer>({.x = x, .labels = labels, .size = 5}, "batch size", "batch", "5", "max_batch<5>");
    refused<classifier_trainer>({.x = x, .labels = labels, .size = 0}, "batch size", "batch", "0", "1 to 4");
    refused<classifier_trainer>({.x = x, .labels = labels, .size = -1}, "batch size", "batch", "-1", "1 to 4");
}
BOOST_AUTO_TEST_CASE(labels_out_of_range) {
    std::int32_t wrong[4] = {0, 1, 2, 0};
    refused<classifier_trainer>({.x = x, .labels = wrong, .size = 4}, "label out of range", "element 2", "2", "0 to 1");
    wrong[2] = -1;
    refused<classifier_trainer>({.x = x, .labels = wrong, .size = 4}, "label out of range", "element 2", "-1",
                                "0 to 1");
    classifier_trainer t(sgd{}, {.threads = 1});
    BOOST_TEST(t.step({.x = x, .labels = wrong, .size = 2}) > 0.f);   // what lies behind the batch is not looked at
}
BOOST_AUTO_TEST_CASE(indices_out_of_range) {
    using word_trainer = trainer_of<words, softmax_cross_entropy_loss>;
    std::int32_t sentence[8] = {0, 6, 3, 3, 1, 2, 7, 0};
    const data::input_view input{.indices = sentence, .width = 4};
    refused<word_trainer>({.labels = labels, .size = 2, .inputs = {&input, 1}}, "index out of range", "element 6", "7",
                          "0 to 6");
    sentence[6] = -5;
    refused<word_trainer>({.labels = labels, .size = 2, .inputs = {&input, 1}}, "index out of range", "element 6", "-5",
                          "0 to 6");
    sentence[6] = 6;
    word_trainer t(sgd{}, {.threads = 1});
    BOOST_TEST(t.step({.labels = labels, .size = 2, .inputs = {&input, 1}}) > 0.f);
}
BOOST_AUTO_TEST_CASE(no_labels_or_targets) {
    refused<classifier_trainer>({.x = x, .y = x, .size = 2}, "targets of the kind that the loss needs", "batch",
                                "no labels", "int32");
    refused<trainer_of<regressor, mse_loss>>({.x = x, .labels = labels, .size = 2},
                                             "targets of the kind that the loss needs", "batch",
                                             "no float targets", "float32");
    classifier_trainer t(sgd{}, {.threads = 1});
    BOOST_TEST(t.predict({.x = x, .size = 2}).size() == 4u);   // prediction needs none
}
BOOST_AUTO_TEST_CASE(targets_of_another_width) {
    using regressor_trainer = trainer_of<regressor, mse_loss>;
    refused<regressor_trainer>({.x = x, .y = x, .size = 2, .y_width = 1}, "targets of the wrong size", "batch",
                               "1 an example", "2");
    refused<regressor_trainer>({.x = x, .y = x, .size = 2, .y_width = 3}, "targets of the wrong size", "batch",
                               "3 an example", "2");
    regressor_trainer t(sgd{}, {.threads = 1});
    BOOST_TEST(t.step({.x = x, .y = x, .size = 2, .y_width = 2}) > 0.f);
    BOOST_TEST(t.step({.x = x, .y = x, .size = 2}) > 0.f);   // made by hand, it need not say
}
BOOST_AUTO_TEST_CASE(another_number_of_labels) {
    refused<classifier_trainer>({.x = x, .labels = labels, .size = 2, .label_width = 2}, "wrong number of labels",
                                "batch", "2 an example", "1");
    using tagger_trainer = trainer_of<tagger, softmax_cross_entropy_loss>;
    refused<tagger_trainer>({.x = x, .labels = labels, .size = 2, .label_width = 1}, "wrong number of labels", "batch",
                            "1 an example", "5");
    std::int32_t wrong[10] = {0, 1, 1, 0, 0, 0, 0, 0, 2, 0};
    refused<tagger_trainer>({.x = x, .labels = wrong, .size = 2, .label_width = 5}, "label out of range", "element 8",
                            "2", "0 to 1");
    tagger_trainer t(sgd{}, {.threads = 1});
    BOOST_TEST(t.step({.x = x, .labels = labels, .size = 2, .label_width = 5}) > 0.f);
    BOOST_TEST(t.step({.x = x, .labels = wrong, .size = 1}) > 0.f);
}
// Through a pipeline, in memory of exactly their size: a read beyond it is an error under the address sanitizer.
BOOST_AUTO_TEST_CASE(a_pipeline_says_how_wide_its_targets_are) {
    constexpr int rows = 4;
    data::dataset narrow(extents(3), std::vector<float>(rows * 3, 1.f));
    data::dataset labelled = narrow;
    narrow.targets(extents(1), std::vector<float>(rows, 1.f));
    labelled.labels(std::vector<std::int32_t>(rows, 1));

    constexpr auto wide = features<3> >> dense<400>;
    estimator many{wide, mse, sgd{}, max_batch<rows>, {.threads = 1}};
    auto targets = narrow | data::batch(rows);
    check_error<data_error>([&] { many.train(targets, {.progress = nullptr}); }, "targets of the wrong size", "batch",
                            "1 an example", "400");
    check_error<data_error>([&] { many.evaluate(targets); }, "targets of the wrong size", "batch",
                            "1 an example", "400");

    constexpr auto long_tagger = features<3> >> dense<150> >> reshape<50, 3>;
    estimator tags{long_tagger, softmax_cross_entropy, sgd{}, max_batch<rows>, {.threads = 1}};
    auto one_label = labelled | data::batch(rows);
    check_error<data_error>([&] { tags.train(one_label, {.progress = nullptr}); }, "wrong number of labels", "batch",
                            "1 an example", "50");
    check_error<data_error>([&] { tags.evaluate(one_label); }, "wrong number of labels", "batch", "1 an example", "50");
}
BOOST_AUTO_TEST_CASE(inputs_of_another_width_type_or_number) {
    const data::input_view narrow{.values = x, .width = 2}, whole{.indices = labels, .width = 3};
    refused<classifier_trainer>({.x = x, .labels = labels, .size = 2, .inputs = {&narrow, 1}},
                                "example of the wrong size", "input 0", "2", "3");
    refused<classifier_trainer>({.labels = labels, .size = 2, .inputs = {&whole, 1}}, "element type differs", "input 0",
                                "int32", "float32");
    refused<classifier_trainer>({.labels = labels, .size = 2}, "too few inputs", "input 0", "0", "one more");

    using pair_trainer = trainer_of<pair, softmax_cross_entropy_loss>;
    const data::input_view both[2] = {{.values = x, .width = 3}, {.values = x, .width = 2}};
    refused<pair_trainer>({.x = x, .labels = labels, .size = 2, .inputs = {both, 1}}, "too few inputs", "input 1", "1",
                          "one more");
    pair_trainer t(sgd{}, {.threads = 1});
    BOOST_TEST(t.step({.labels = labels, .size = 2, .inputs = both}) > 0.f);
}
