// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE checked_at_start
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include "support/points.hpp"
#include <filesystem>
#include <fstream>
#include <sinter/data/transform/repeat.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/hooks/reduce_on_plateau.hpp>
#include <sinter/train/hooks/validate.hpp>
#include <sinter/train/losses/sigmoid_cross_entropy.hpp>
#include <sinter/train/losses/weighted.hpp>
#include <sinter/train/metrics.hpp>
#include <sinter/train/optimizers/clip_by_value.hpp>
#include <sinter/train/optimizers/parameter_groups.hpp>

// What of hooks, metrics and specs can be known when training begins is told then, before the first step and before
// anything is written.
using namespace sinter;
using sinter::test::points;

static constexpr auto classes = features<2> >> dense<3>;
static constexpr auto numbers = features<2> >> dense<2>;
static data::dataset targets(int n) {
    const std::vector<float> x(static_cast<std::size_t>(2 * n), 0.5f);
    return data::dataset(extents(2), x).targets(extents(2), x);
}
static auto of_classes() {
    return estimator{classes, softmax_cross_entropy, sgd{}, max_batch<16>, {.threads = 1}};
}
static auto of_numbers() { return estimator{numbers, mse, sgd{}, max_batch<16>, {.threads = 1}}; }

struct count_steps {
    int steps = 0;
    void after_step(training_run&, const data::batch_view&) { ++steps; }
};
/// `begun`: whether hooks' begin was reached, which may write.
struct note_begin {
    bool begun = false;
    void begin(training_run&) { begun = true; }
};
template <class Model, class... Hooks>
static void refused(const char* what, Model m, data::dataset set, train_options o, const std::string& words,
                    Hooks&&... hooks) {
    auto data = set | data::batch(8);
    o.epochs = 2, o.progress = nullptr;
    count_steps steps;
    note_begin first;
    std::string got = "no error";
    try {
        m.train(data, o, steps, first, hooks...);
    } catch (const error& e) {
        got = e.what();
    }
    BOOST_TEST(got.find(words) != std::string::npos, what << ": got " << got);
    BOOST_TEST(steps.steps == 0, what);
    BOOST_TEST(!first.begun, what);
}
static void refused_of_classes(const char* what, std::vector<metrics::named> m, const std::string& words) {
    refused(what, of_classes(), points(40, 1), {.validation = points(20, 2) | data::batch(8), .metrics = m}, words);
}
static void refused_of_numbers(const char* what, std::vector<metrics::named> m, const std::string& words) {
    refused(what, of_numbers(), targets(40), {.validation = targets(20) | data::batch(8), .metrics = m}, words);
}

BOOST_AUTO_TEST_CASE(metrics_that_do_not_fit) {
    const std::string no = "the metric does not fit the output";
    refused_of_classes("auc", {metrics::auc{}}, no);
    refused_of_classes("auc_pr", {metrics::auc_pr{}}, no);
    refused_of_classes("f1", {metrics::f1{}}, no);
    refused_of_classes("precision", {metrics::precision{}}, no);
    refused_of_classes("recall", {metrics::recall{}}, no);
    refused_of_classes("binary_accuracy", {metrics::binary_accuracy{}}, no);
    refused_of_classes("r2", {metrics::r2{}}, no);
    refused_of_classes("mae", {metrics::mae{}}, no);
    refused_of_classes("mse", {metrics::mse{}}, no);
    refused_of_classes("rmse", {metrics::rmse{}}, no);
    refused_of_classes("confusion matrix", {metrics::confusion_matrix{4}}, "4 classes; needed 3");
    refused_of_classes("top_k", {metrics::top_k{4}}, "3 classes; needed 4 or more");
    refused_of_classes("output 1", {{"second", metrics::top_k{2}, 1}}, "the net has no such output");
    refused_of_classes("the second of two", {metrics::top_k{2}, metrics::auc{}}, no);
    refused_of_numbers("accuracy", {metrics::accuracy{}}, no);
    refused_of_numbers("top_k", {metrics::top_k{1}}, no);
    refused_of_numbers("perplexity", {metrics::perplexity{}}, no);
    refused_of_numbers("confusion matrix", {metrics::confusion_matrix{2}}, no);
    refused_of_numbers("r2", {metrics::r2{3}}, "3 columns; needed 2");
}
/// Scores of a loss of logits are no probabilities, whatever their values are.
BOOST_AUTO_TEST_CASE(metrics_of_probabilities) {
    const auto of = [](auto loss, data::dataset set, std::vector<metrics::named> m) {
        refused(m[0].name().c_str(), estimator{numbers, loss, sgd{}, max_batch<16>, {.threads = 1}}, set,
                {.validation = set | data::batch(8), .metrics = m}, "got logits");
    };
    for (const metrics::named& m : {metrics::named(metrics::auc{}), metrics::named(metrics::auc_pr{}),
                                    metrics::named(metrics::f1{}), metrics::named(metrics::binary_accuracy{})})
        of(sigmoid_cross_entropy, targets(40), {m});
    of(weighted(sigmoid_cross_entropy), targets(40).weights(std::vector<float>(40, 1.f)), {metrics::recall{}});
    const std::vector<float> x(80, 0.5f), y(80, 1.f);
    const auto set = data::dataset(extents(2), x).targets(extents(2), y);
    estimator m{numbers, sigmoid_cross_entropy, sgd{}, max_batch<16>, {.threads = 1}};
    m.train(set | data::batch(8), {.validation = set | data::batch(8), .progress = nullptr,
                                   .metrics = {metrics::auc({.from_logits = true}), metrics::f1{0.f}}});
}
BOOST_AUTO_TEST_CASE(validation_data_that_do_not_fit) {
    const auto of = [](const char* what, data::pipeline p, const std::string& words) {
        refused(what, of_classes(), points(40, 1), {.validation = &p}, words);
        validate other(p, {}, "test_");
        refused(what, of_classes(), points(40, 1), {}, words, other);
    };
    of("a batch", points(40, 2) | data::batch(17), "got 17; needed 1 to 16");
    of("no labels", data::dataset(extents(2), std::vector<float>(8)) | data::batch(4), "no labels");
    of("targets", targets(8) | data::batch(4), "no labels");
    of("a wide input", data::dataset(extents(3), std::vector<float>(6)).labels({0, 1}) | data::batch(4), "wrong size");
    of("two labels", data::dataset(extents(2), std::vector<float>(4)).labels(extents(2), {0, 1, 1, 0}) | data::batch(4),
       "wrong number of labels");
    of("weights", points(8, 2).weights(std::vector<float>(8)) | data::batch(4), "weights");
    of("no end", points(8, 2) | data::repeat() | data::batch(4), "never end");
    of("nothing", points(8, 2).slice(0, 0) | data::batch(4), "nothing to evaluate");
    of("nothing but a remainder", points(8, 2) | data::batch(9, {.drop_remainder = true}), "nothing to evaluate");
    // few examples are one small batch, whatever is written
    auto m = of_classes();
    BOOST_TEST(m.train(points(40, 1) | data::batch(8), {.validation = points(9, 2) | data::batch(1000),
                                                        .progress = nullptr})[0].accuracy >= 0);
}
BOOST_AUTO_TEST_CASE(what_is_watched_and_not_measured) {
    const auto of = [](auto hook, const train_options& o, const std::string& words) {
        refused(decltype(hook)::name, of_classes(), points(40, 1), o, words, hook);
    };
    const auto each = [&](watched what, const char* monitor, const train_options& o, const std::string& words) {
        of(early_stop({.what = what, .monitor = monitor}), o, words);
        of(keep_best({.what = what, .monitor = monitor}), o, words);
        of(reduce_on_plateau({.what = what, .monitor = monitor}), o, words);
    };
    const std::string no = "no hook measures what is watched";
    each(watched::validation_loss, "", {}, no);
    each(watched::accuracy, "", {}, no);
    const train_options o{.validation = points(20, 2) | data::batch(8), .metrics = {metrics::top_k{2}}};
    each(watched::loss, "val_f1", o,
         no + "; got val_f1; needed one of loss, accuracy, val_loss, val_accuracy, val_top_k");
    each(watched::loss, "top_k", o, no);
    each(watched::loss, "validation_loss", o, no);
    refused("accuracy of numbers", of_numbers(), targets(40), {.validation = targets(8) | data::batch(8)}, no,
            early_stop({.what = watched::accuracy}));
    refused("training accuracy of numbers", of_numbers(), targets(40), {}, no, early_stop({.monitor = "accuracy"}));
    // measured by a hook that comes later, or by one that has not said what it measures
    struct {
        void pass_end(training_run& r) { r.result.metrics.push_back({"own", 1., false, {}}); }
    } own;
    auto other = points(20, 2) | data::batch(8);
    validate elsewhere(other, {metrics::top_k{2}}, "test_");
    auto m = of_classes();
    for (const char* name : {"test_loss", "test_accuracy", "test_top_k", "loss", "accuracy"})
        m.train(points(40, 1) | data::batch(8), {.progress = nullptr}, early_stop({.monitor = name}), elsewhere);
    m.train(points(40, 1) | data::batch(8), {.progress = nullptr}, early_stop({.monitor = "own"}), own);
}
BOOST_AUTO_TEST_CASE(files_that_cannot_be_written) {
    temporary_folder folder;
    const train_options o{.validation = points(20, 2) | data::batch(8)};
    const std::string target = folder / "a_folder", table = folder / "table.csv";
    std::filesystem::create_directory(target);
    refused("a folder", of_classes(), points(40, 1), o, "a folder", keep_best({.file = target.c_str()}));
    // the table of an earlier run is still there
    std::ofstream(table) << "an earlier run's\n";
    refused("a table", of_classes(), points(40, 1), {}, "no hook measures", csv_log(table), early_stop());
    BOOST_TEST(std::filesystem::file_size(table) == 17u);
    for (const auto& entry : std::filesystem::directory_iterator(target)) BOOST_ERROR("left behind: " << entry.path());
}
BOOST_AUTO_TEST_CASE(rates_that_are_schedules) {
    const schedule s = cosine(.1f, 10);
    const auto of = [](auto optimizer) {
        refused("a schedule", estimator{classes, softmax_cross_entropy, optimizer, max_batch<16>, {.threads = 1}},
                points(40, 1), {}, "the learning rate is a schedule", reduce_on_plateau({.what = watched::loss}));
    };
    of(sgd{s});
    of(clip_by_value{1.f, parameter_groups{sgd{}, group_of<"*/bias">(sgd{s})}});
}

// ---- specs
template <class... Hooks>
static std::string specs(duty does, data::pipeline_ref test, std::vector<metrics::named> m, std::int64_t steps,
                         Hooks&&... hooks) {
    temporary_folder folder;
    auto data = points(40, 1) | data::batch(8);
    auto model = of_classes();
    count_steps count;
    try {
        const auto r = train_and_evaluate(
            model,
            {.data = data, .max_steps = steps, .folder = folder / "run", .every_steps = 5, .does = does,
             .progress = nullptr},
            {.data = test, .metrics = m, .throttle = 0, .give_up_after = 60}, count, hooks...);
        return to_text({"steps ", r.steps, ", ", r.evaluations.size(), " evaluations"});
    } catch (const error& e) {
        return to_text({count.steps, " ", e.what()});
    }
}
BOOST_AUTO_TEST_CASE(specs_that_do_not_fit) {
    for (const duty does : {duty::both, duty::evaluate}) {
        const auto begins = [&](const std::string& got, const char* words) {
            BOOST_TEST((got.starts_with("0 ") && got.find(words) != std::string::npos), got);
        };
        begins(specs(does, points(40, 2) | data::batch(17), {}, 20), "eval_spec, batch: batch size does not fit");
        begins(specs(does, data::dataset(extents(2), std::vector<float>(8)) | data::batch(4), {}, 20), "no labels");
        begins(specs(does, points(40, 2) | data::batch(8), {metrics::auc{}}, 20), "does not fit the output");
        begins(specs(does, points(40, 2) | data::repeat() | data::batch(8), {}, 20), "never end");
    }
}
/// Hooks decide by what eval_spec measures, at each epoch's end; an evaluator elsewhere tells them nothing.
BOOST_AUTO_TEST_CASE(hooks_watch_what_eval_spec_measures) {
    for (const char* monitor : {"", "val_accuracy", "val_top_k"}) {
        // a rate of 0: never better than in the first epoch, of 5 steps
        early_stop stop({.patience = 2, .monitor = monitor});
        keep_best best({.monitor = monitor});
        reduce_on_plateau slower({.patience = 1, .monitor = monitor});
        temporary_folder folder;
        auto data = points(40, 1) | data::batch(8);
        estimator model{classes, softmax_cross_entropy, sgd{.learning_rate = 0.f}, max_batch<16>, {.threads = 1}};
        const auto r = train_and_evaluate(
            model, {.data = data, .max_steps = 100, .folder = folder / "run", .every_steps = 5, .progress = nullptr},
            {.data = points(30, 2) | data::batch(8), .metrics = {metrics::top_k{2}}, .throttle = 1e9}, stop, best,
            slower);
        BOOST_TEST(r.steps == 15);
        BOOST_TEST(stop.stopped());
        BOOST_TEST(best.best_epoch() == 1);
        BOOST_TEST(r.epochs.size() == 3u);
        BOOST_TEST(r.epochs[0].validation_loss == r.evaluations.back().result.loss);
        BOOST_TEST(r.epochs[0].value("val_top_k") == r.evaluations.back().result.value("top_k"));
        BOOST_TEST(r.evaluations.size() == 3u);   // one a step, though checkpoints are of these steps, too
    }
    const std::string got = specs(duty::train, points(20, 2) | data::batch(8), {}, 20, early_stop());
    BOOST_TEST((got.starts_with("0 ") && got.find("the evaluator") != std::string::npos), got);
    BOOST_TEST(specs(duty::train, points(20, 2) | data::batch(8), {}, 10, early_stop({.what = watched::loss})) ==
               "steps 10, 0 evaluations");
}

// ---- where a pass begins
BOOST_AUTO_TEST_CASE(a_pass_that_begins_in_the_middle_says_so) {
    const auto trained = [](data::pipeline& p, std::string& text) {
        std::FILE* const out = std::tmpfile();
        auto m = of_classes();
        const auto h = m.train(p, {.epochs = 2, .progress = out});
        std::rewind(out);
        for (int c; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
        std::fclose(out);
        return h;
    };
    auto p = points(40, 1) | data::batch(8);
    for (int i = 0; i < 3; ++i) p.next();
    std::string text;
    auto h = trained(p, text);
    BOOST_TEST(h[0].first_example == 24);
    BOOST_TEST(h[0].examples == 16);
    BOOST_TEST(h[1].first_example == 0);
    BOOST_TEST(h[1].examples == 40);
    BOOST_TEST(text.find("epoch 1 begins at example 24 of 40, where the data were left: rewind()") == 0u, text);
    BOOST_TEST(text.find("epoch 1/2 from 24: 16/16 examples") != std::string::npos, text);
    BOOST_TEST(text.find("epoch 2 begins") == std::string::npos, text);
    for (int whole = 0; whole < 2; ++whole) {   // no word where a pass is whole: rewound, or left at its very end
        text.clear();
        p.next();
        if (whole == 0) p.rewind();
        else while (p.position().index < 40) p.next();
        h = trained(p, text);
        BOOST_TEST(h[0].first_example == 0);
        BOOST_TEST(h[0].examples == 40);
        BOOST_TEST(text.find("begins") == std::string::npos, text);
    }
}
