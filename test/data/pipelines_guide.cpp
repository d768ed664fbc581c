// SPDX-License-Identifier: BSL-1.0
// The code of doc/pipelines.md: each of its lines stands here as well (tools/documents.sh looks), compiled, and its
// results checked.
#define BOOST_TEST_MODULE pipelines_guide
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <sinter/pipelines.hpp>
#include <sinter/sinter.hpp>

using namespace sinter;

namespace {
struct passenger {
    float age;
    int hours_per_week;
    std::string workclass, income;
};
struct sample {
    std::array<float, 3> x;
    std::int32_t rich;
};
constexpr auto net = features<3> >> dense<8> >> relu >> dense<2>;
} // namespace

BOOST_AUTO_TEST_CASE(a_first_pipeline) {
    temporary_folder folder;
    std::string text = "age,workclass,hours_per_week,income,unused\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(20 + i % 50) + (i % 3 ? ",Private," : ",State-gov,") + std::to_string(10 + i * 7 % 60) +
                (i % 50 > 25 ? ",>50K,x\n" : ",<=50K,x\n");
    write_bytes(folder / "adult.csv", text);
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");
    auto train = data::csv::rows<passenger>("adult.csv")   // columns are found by the fields' names
               | data::map([](const passenger& p) {
                     const float is_private = p.workclass == "Private" ? 1.f : 0.f;
                     return sample{{p.age / 90, static_cast<float>(p.hours_per_week) / 99, is_private},
                                   p.income == ">50K"};
                 })
               | data::shuffle() | data::batch(64) | data::prefetch();
    std::filesystem::current_path(before);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 3e-2f}, max_batch<64>, {.threads = 1, .seed = 1}};
    model.train(train, {.epochs = 3});
    BOOST_TEST((train.position() == data::position{3, 0}));
    model.train(train, {.epochs = 40, .progress = nullptr});
    BOOST_TEST(model.evaluate(train).accuracy > 0.9);
}

BOOST_AUTO_TEST_CASE(stages_in_a_loop) {
    float sum = 0;
    auto squares = data::range(10) | data::map([](std::int64_t i) { return static_cast<float>(i * i); })
                 | data::filter([](float x) { return x > 10; }) | data::take(3);
    for (float x : data::elements(squares)) sum += x;   // 16 + 25 + 36
    BOOST_TEST(sum == 77.f);
}

BOOST_AUTO_TEST_CASE(where_the_time_goes) {
    data::stage_times times;
    auto seen = data::range(3200) | data::map([](std::int64_t i) { return i % 7; }) | data::measured("read", times)
              | data::map([](std::int64_t i) { return static_cast<float>(i); }) | data::measured("decode", times);
    std::int64_t n = 0;
    for (float x : data::elements(seen)) n += x >= 0;
    BOOST_TEST(n == 3200);
    BOOST_TEST(times.all()[1].elements == 3200);
}

BOOST_AUTO_TEST_CASE(each_worker_its_own) {
    auto own = data::per_worker([](int index, int count) {
        return data::worker_files(data::range(6), [](std::int64_t file) { return data::range(9 * file, 9 * file + 9); },
                                  {.index = index, .count = count})
             | data::map([](std::int64_t i) { return static_cast<float>(i); }) | data::batch(4);
    });
    static constexpr port_info inputs[] = {{.s = {.rank = 1, .d = {1}}}};
    static constexpr data::model_ports ports{{inputs, 1}, {}};
    float sum = 0;
    for (const data::batch_view& b : data::pipeline_for<ports>(own, 1, 2))
        for (int i = 0; i < b.size; ++i) sum += b.x[i];
    BOOST_TEST(sum == 9.f * (13 + 31 + 49));
}
