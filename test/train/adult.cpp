// SPDX-License-Identifier: BSL-1.0
// labels: slow
// needs: data zlib
// optimise: native
#define BOOST_TEST_MODULE adult
#include <boost/test/unit_test.hpp>
#include "io/data_folder.hpp"
#include "io/skip.hpp"
#include <sinter/data/features.hpp>
#include <sinter/sinter.hpp>

// Who earns more than 50,000 dollars, by the census of 1994 (UCI Adult): from a CSV file, through feature columns.
using namespace sinter;

static data::features people() {
    data::features f;
    for (const char* column : {"age", "education_num", "hours_per_week"}) f.number(column);
    for (const char* column : {"capital_gain", "capital_loss"}) f.number(column, {.logarithm = true});
    f.indicator(data::bucketized("age", {18, 25, 30, 35, 40, 45, 50, 55, 60, 65}));
    f.indicator(data::quantiles("hours_per_week", 6));
    f.indicator(data::bucketized("capital_gain", {1, 3000, 5000, 7000, 10000, 20000}));
    f.indicator(data::bucketized("capital_loss", {1, 1500, 1800, 1950, 2200, 2500}));
    f.indicator(data::vocabulary("workclass", 9)).indicator(data::vocabulary("education", 17));
    f.indicator(data::vocabulary("marital_status", 8)).indicator(data::vocabulary("occupation", 15));
    f.indicator(data::vocabulary("relationship", 7)).indicator(data::vocabulary("race", 6))
        .indicator(data::vocabulary("sex", 3));
    f.indicator(data::hashed("native_country", 16));
    f.indicator(data::crossed(128, {data::vocabulary("education", 17), data::vocabulary("occupation", 15)}));
    return f.label("income", {"<=50K", ">50K"});
}
constexpr auto net = features<249> >> dense<64> >> relu >> dropout<0.3f> >> dense<32> >> relu >> dropout<0.3f>
    >> dense<2>;

// What the net has learned after its last pass counts: nothing is chosen by looking at the test set. 0.863 +- 0.001 for
// four seeds; who always says "no" has 0.759.
BOOST_AUTO_TEST_CASE(reaches_85_percent_in_6_epochs) {
    const std::string train_file = data_file("adult/adult_train.csv"), test_file = data_file("adult/adult_test.csv");
    if (train_file.empty() || test_file.empty()) return skip("no adult/adult_train.csv and adult_test.csv");
    const data::csv::table train = data::csv::read(train_file), test = data::csv::read(test_file);
    data::features f = people();
    f.fit(train);
    BOOST_REQUIRE(f.width() == 249);

    auto training = data::source(f.apply(train)) | data::shuffle(100'000, 1) | data::batch(64);
    auto testing = data::source(f.apply(test)) | data::batch(64);
    estimator model{net, softmax_cross_entropy, adamw{.learning_rate = cosine(2e-3f, 6 * 357)},
                    {.threads = 1, .seed = 1}};
    const auto history = model.train(training, {.epochs = 6, .validation = &testing});
    BOOST_TEST(history.back().examples == 22'792);
    BOOST_TEST(history.back().accuracy >= 0.85, "test accuracy " << history.back().accuracy << ", needed 0.85");
}
