// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE looked_at_data
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <fstream>
#include <functional>
#include <sinter/data/features.hpp>
#include <sinter/data/runtime/prefetch.hpp>
#include <sinter/data/transform/repeat.hpp>
#include <sinter/data/features/stream.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/validate.hpp>

// Evaluation and prediction leave a pipeline where it was. A model is trained twice, once with a hook that evaluates
// and predicts the very data that it is trained on: both see the same examples in the same order, bit for bit.
using namespace sinter;
using data::batch_view;

static constexpr auto net = features<1> >> dense<1>;
static data::dataset numbers(int n) {
    std::vector<float> x(static_cast<std::size_t>(n)), y(x.size(), 1.f);
    for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i);
    return data::dataset(extents(1), x).targets(extents(1), y);
}
template <class Model>
struct looks {
    Model* model = nullptr;
    data::pipeline* data = nullptr;   ///< null: looks at nothing
    std::vector<float> seen{};        ///< of every step's batch, behind whatever was looked at
    std::int64_t examples = -1;       ///< of an evaluation

    void look() {
        if (!data) return;
        const auto at = data->position();
        examples = model->evaluate(*data).examples;
        BOOST_TEST((data->position() == at));
        BOOST_TEST(model->predict(*data).size() == static_cast<std::size_t>(examples));
        BOOST_TEST((data->position() == at));
    }
    void begin(training_run&) { look(); }
    void before_step(training_run&, const batch_view& b) {
        look();
        seen.insert(seen.end(), b.x, b.x + b.size);
    }
    void after_step(training_run&, const batch_view& b) {
        look();
        seen.insert(seen.end(), b.x, b.x + b.size);
    }
    void pass_end(training_run&) { look(); }
    void epoch_end(training_run&) { look(); }
};
static std::string csv_of_numbers(const std::string& path) {
    std::ofstream out(path);
    out << "x,y\n";
    for (int i = 0; i < 11; ++i) out << i << ",1\n";
    return path;
}
static std::vector<float> trained(data::pipeline p, bool looked_at, std::int64_t stop_at) {
    estimator m{net, mse, sgd{1e-4f}, max_batch<8>, {.threads = 1}};
    looks<decltype(m)> hook{&m, looked_at ? &p : nullptr};
    m.train(p, {.epochs = 2, .max_steps = stop_at, .progress = nullptr}, hook);
    m.train(p, {.epochs = 1, .progress = nullptr}, hook);   // the rest of a pass
    for (int i = 0; i < 2; ++i) hook.seen.push_back(m.inner().plain(m.inner().parameter(i))[0]);
    return hook.seen;
}
BOOST_AUTO_TEST_CASE(data_of_every_kind) {
    temporary_folder folder;
    const std::string file = csv_of_numbers(folder / "numbers.csv");
    const auto noise = [](data::example& e, random_stream& r) { e.x[0] += r.uniform(); };
    const std::function<data::pipeline()> kinds[] = {
        [&] { return numbers(11) | data::batch(4); },
        [&] { return numbers(12) | data::batch(4); },   // whose end is found by one more read
        [&] { return numbers(11) | data::batch(4, {.drop_remainder = true}); },
        [&] { return numbers(11) | data::shuffle(5, 3) | data::map(noise) | data::batch(4); },
        [&] { return numbers(11) | data::map(noise) | data::shuffle(100) | data::batch(4); },
        [&] { return numbers(5) | data::shuffle(5) | data::repeat(3) | data::batch(4); },
        [&] { return numbers(11) | data::shuffle(11) | data::map(noise) | data::batch(4) | data::prefetch(2); },
        [&] {
            data::features f;
            f.number("x", {.standardise = false}).target("y", {.standardise = false});
            return data::csv_examples(file, f) | data::shuffle(4) | data::batch(3) | data::prefetch();
        },
    };
    for (std::size_t k = 0; k < std::size(kinds); ++k)
        for (const std::int64_t stop : {0, 2, 4}) {
            const auto plain = trained(kinds[k](), false, stop), looked = trained(kinds[k](), true, stop);
            BOOST_TEST(plain == looked, "kind " << k << ", max_steps " << stop);
        }
}
BOOST_AUTO_TEST_CASE(behind_errors_and_answers_of_no) {
    int calls = 0;
    auto p = numbers(12) | data::map([&](data::example&) { if (++calls == 14) throw data_error("a bad example", ""); })
             | data::batch(4);
    const batch_view* b = p.next();
    const float third = b->x[2];
    BOOST_CHECK_THROW(p.look_over_pass([](const batch_view&) { return true; }), data_error);   // its tenth example
    BOOST_TEST((p.position() == data::position{0, 4}));
    int batches = 0;
    p.look_over_pass([&](const batch_view&) { return ++batches < 2; });
    BOOST_TEST(batches == 2);
    BOOST_CHECK_THROW(p.look_over_pass([](const batch_view&) -> bool { throw 1; }), int);
    BOOST_TEST(b->x[2] == third);   // the batch that next() gave
    BOOST_TEST(p.next()->x[0] == 4);
}
/// Checkpoints are evaluated within passes, on the data of training.
BOOST_AUTO_TEST_CASE(one_pipeline_in_both_specs) {
    std::vector<float> seen[2];
    for (int both = 0; both < 2; ++both) {
        temporary_folder folder;
        auto d = numbers(12) | data::shuffle(12, 5) | data::batch(2), other = numbers(12) | data::batch(2);
        estimator m{net, mse, sgd{1e-4f}, max_batch<8>, {.threads = 1}};
        looks<decltype(m)> hook;
        validate also(d, {}, "also_");
        const auto r = train_and_evaluate(
            m, {.data = &d, .max_steps = 15, .folder = folder / "run", .every_steps = 2, .progress = nullptr},
            {.data = both ? &d : &other, .throttle = 0}, hook, also);
        BOOST_TEST(r.evaluations.size() == 8u);
        BOOST_TEST(r.epochs.size() == 3u);
        seen[both] = hook.seen;
    }
    BOOST_TEST(seen[0].size() == 60u);
    BOOST_TEST(seen[0] == seen[1]);
}
