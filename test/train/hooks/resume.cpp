// SPDX-License-Identifier: BSL-1.0
#define BOOST_TEST_MODULE resume
#include <boost/test/unit_test.hpp>
#include "io/error_parts.hpp"
#include "support/points.hpp"
#include "io/temporary_folder.hpp"
#include <sinter/sinter.hpp>
#include <sinter/train/alternating_trainer.hpp>
#include <sinter/train/hooks/csv_log.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/keep_best.hpp>
#include <sinter/train/hooks/reduce_on_plateau.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/predictor.hpp>
#include <sinter/train/checkpoint/weights_file.hpp>
#include <fstream>
#include <sstream>

// A run that is ended at some step, by whatever means, and resumed in another object ends bit for
// bit as one that was not.
using namespace sinter;

constexpr auto net = features<2> >> dense<4> >> relu >> dropout<0.3f> >> dense<2>;

using sinter::test::points;
/// Ends the run behind a step as a killed process would, or by asking.
struct ends_at {
    std::int64_t step;
    bool kills;
    void after_step(training_run& run, const data::batch_view&) {
        if (run.step != step) return;
        if (kills) throw std::runtime_error("killed");
        run.stop("asked");
    }
};
static std::string text_of(const std::string& file, bool without_seconds) {
    std::ifstream in(file);
    std::string all;
    for (std::string line; std::getline(in, line);) {
        std::stringstream fields(line);
        std::string field;
        for (int i = 0; std::getline(fields, field, ','); ++i)
            if (i != 3 || !without_seconds) all += field + ',';
        all += '\n';
    }
    return all;
}
/// All that a run comes to.
struct outcome {
    std::vector<float> numbers;
    std::vector<double> found;
    std::string table;
    std::vector<epoch_result> history;
};
static void check_same(const outcome& a, const outcome& b) {
    BOOST_TEST((a.numbers == b.numbers));
    BOOST_TEST((a.found == b.found));
    BOOST_TEST(a.table == b.table);
}
/// The run, or the part of it until `end`; in a folder that keeps its files.
static outcome run(const temporary_folder& folder, save_options saving, ends_at end) {
    auto data = points(50, 3) | data::shuffle(20) | data::batch(8);
    auto held_out = points(30, 4) | data::shuffle(30) | data::batch(8);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 0.2f}, {.threads = 1}};
    keep_best best;
    early_stop stop({.patience = 9});
    reduce_on_plateau slower({.factor = 0.5f, .patience = 2, .cooldown = 1});
    saving.resume = true;
    outcome o;
    try {
        o.history = model.train(data, {.epochs = 16, .validation = &held_out, .progress = nullptr},
                                csv_log(folder / "log.csv"), best, slower, stop,
                                save_checkpoints(folder / "run.safetensors", saving), end);
    } catch (const std::runtime_error& e) {
        if (std::string(e.what()) != "killed") throw;
        return o;
    }
    const auto& t = model.inner();
    const auto add = [&] {
        for (int i = 0; i < t.parameters(); ++i) {
            for (const float x : t.plain(t.parameter(i))) o.numbers.push_back(x);
            for (int k = 0; k < t.slots_of(t.parameter(i)); ++k)
                for (const float x : t.plain_slot(t.parameter(i), k)) o.numbers.push_back(x);
        }
    };
    add();
    best.restore(model);
    add();
    o.found = {best.best(), static_cast<double>(best.best_epoch()), stop.best(), static_cast<double>(stop.best_epoch()),
               static_cast<double>(stop.stopped()), static_cast<double>(slower.rate()),
               static_cast<double>(slower.reductions()), static_cast<double>(model.inner().steps())};
    o.table = text_of(folder / "log.csv", true);
    return o;
}
BOOST_AUTO_TEST_CASE(killed_or_stopped_at_any_step) {
    const temporary_folder whole;
    const outcome undisturbed = run(whole, {}, {-1, false});
    BOOST_TEST(undisturbed.found[6] > 0);   // the rate was lowered
    BOOST_TEST(undisturbed.found[1] > 1);   // the first epoch was not the best
    const int epochs = static_cast<int>(undisturbed.history.size());
    for (const save_options saving : {save_options{}, save_options{.every_steps = 1}, save_options{.every_steps = 5}})
        for (const std::int64_t step : {1, 6, 7, 8, 14, 25, 38})   // an epoch has seven
            for (const bool kills : {true, false}) {
                const temporary_folder folder;
                run(folder, saving, {step, kills});
                BOOST_TEST_CONTEXT("every " << saving.every_steps << ", at " << step << ", killed " << kills) {
                    const outcome resumed = run(folder, saving, {-1, false});
                    check_same(resumed, undisturbed);
                    const auto& h = resumed.history;
                    for (std::size_t i = 0; i < h.size(); ++i) {   // the epochs that ended now, whole
                        const epoch_result& same = undisturbed.history[undisturbed.history.size() - h.size() + i];
                        BOOST_TEST(h[i].epoch == same.epoch);
                        BOOST_TEST(h[i].loss == same.loss);
                        BOOST_TEST(h[i].training_accuracy == same.training_accuracy);
                        BOOST_TEST(h[i].validation_loss == same.validation_loss);
                        BOOST_TEST(h[i].examples == 50);
                    }
                    BOOST_TEST(h.back().epoch == epochs);
                    BOOST_TEST(run(folder, saving, {-1, false}).history.empty());   // it had ended
                }
            }
}
BOOST_AUTO_TEST_CASE(a_run_that_stopped_early_stays_stopped) {
    const auto once = [](const temporary_folder& folder, int patience) {
        auto data = points(50, 3) | data::batch(8), held_out = points(30, 4) | data::batch(8);
        estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 0.f}, {.threads = 1}};   // never better
        early_stop stop({.patience = patience});
        return model.train(data, {.epochs = 9, .validation = &held_out, .progress = nullptr},
                           save_checkpoints(folder / "run.safetensors", {.resume = true}), stop).size();
    };
    const temporary_folder folder;
    BOOST_TEST(once(folder, 2) == 3u);
    BOOST_TEST(once(folder, 2) == 0u);
    BOOST_TEST(once(folder, 1) == 0u);
    BOOST_TEST(once(folder, 4) == 2u);   // two more epochs of patience than had passed
    BOOST_TEST(once(folder, 4) == 0u);
    BOOST_TEST(once(folder, 9) == 4u);   // to the last of those that are asked for
}
/// Its last line is of a pass that max_steps cut short, within which it was saved.
BOOST_AUTO_TEST_CASE(a_run_that_had_ended_keeps_its_table) {
    const temporary_folder folder;
    const auto table_after = [&](std::int64_t steps) {
        auto data = points(50, 3) | data::batch(8);
        estimator model{net, softmax_cross_entropy, adam{.learning_rate = 0.2f}, {.threads = 1}};
        model.train(data, {.max_steps = steps, .progress = nullptr}, csv_log(folder / "log.csv"),
                    save_checkpoints(folder / "run.safetensors", {.resume = true}));
        return text_of(folder / "log.csv", true);
    };
    const std::string ended = table_after(10);
    BOOST_TEST(ended.find("\n2,10,24,") != std::string::npos);
    BOOST_TEST(table_after(10) == ended);
    const std::string longer = table_after(12);   // the whole of this epoch's takes the place of that line
    BOOST_TEST(longer.find("\n2,10,") == std::string::npos);
    BOOST_TEST(longer.find("\n2,12,40,") != std::string::npos);
}
BOOST_AUTO_TEST_CASE(losses_that_alternate) {
    constexpr auto two = features<2> >> dense<2>;
    constexpr alternating phases{phase<"dense/kernel">(softmax_cross_entropy, adam{.learning_rate = 0.1f}, 2),
                                 phase<"dense/bias">(softmax_cross_entropy, adam{.learning_rate = 0.01f})};
    const auto once = [&](const temporary_folder& folder, ends_at end) {
        auto data = points(50, 3) | data::batch(8);
        estimator model{two, phases, {.threads = 1}};
        auto h = model.train(data, {.epochs = 3, .progress = nullptr},
                             save_checkpoints(folder / "run.safetensors", {.resume = true}), end);
        std::vector<double> all;
        for (int i = 0; i < model.inner().parameters(); ++i)
            for (const float x : model.inner().plain(model.inner().parameter(i))) all.push_back(static_cast<double>(x));
        for (const double x : h.back().phase_losses) all.push_back(x);
        return all;
    };
    const temporary_folder whole, folder;
    const auto undisturbed = once(whole, {-1, false});
    once(folder, {17, false});
    BOOST_TEST((once(folder, {-1, false}) == undisturbed));
}

/// What a member that joins a job is given, and what it makes of it.
struct gives {
    std::vector<std::byte> bytes;
    void after_step(auto& run, const data::batch_view&) {
        if (run.step == 17) bytes = training_parts::archive_of(run)->hand_over("as here");
    }
};
struct takes {
    const std::vector<std::byte>& bytes;
    void resume(auto& run) { training_parts::archive_of(run)->take_over(bytes, "as here"); }
};
BOOST_AUTO_TEST_CASE(a_run_that_is_handed_on_has_the_steps_of_each_loss) {
    constexpr auto one = features<2> >> dense<2>;
    constexpr alternating phases{phase<"dense/kernel">(softmax_cross_entropy, adam{.learning_rate = 0.1f}, 2),
                                 phase<"dense/bias">(softmax_cross_entropy, adam{.learning_rate = 0.01f})};
    const auto once = [&](auto& hook) {
        auto data = points(50, 3) | data::batch(8);
        estimator model{one, phases, {.threads = 1}};
        model.train(data, {.max_steps = 17, .progress = nullptr}, hook);
        return model.inner().phase_steps();
    };
    gives first;
    const std::array<std::int64_t, 2> expected{12, 5};
    BOOST_TEST(once(first) == expected, boost::test_tools::per_element());
    const auto f = safetensors::parse(span<const std::byte>(first.bytes), "memory");
    BOOST_TEST(f.at("optimizer/steps").as<std::int64_t>() == expected, boost::test_tools::per_element());
    takes second{first.bytes};
    BOOST_TEST(once(second) == expected, boost::test_tools::per_element());
}

/// A hook of the test's, with one variable of each kind.
struct keeps {
    static constexpr const char* name = "keeps";
    bool b = true;
    int i = 1;
    std::int64_t n = std::int64_t{1} << 40;
    float f = 0.5f;
    double d = 1. / 3;
    std::vector<float> list{1, 2};
    std::vector<double> doubles{};
    std::string text = "so";
    void state(hook_state& s) {
        s("b", b)("i", i)("n", n)("f", f)("d", d)("list", list)("doubles", doubles)("text", text);
    }
    void begin(training_run&) {}
    bool operator==(const keeps&) const = default;
};
struct another {
    static constexpr const char* name = "keeps";
    double b = 0;
    void state(hook_state& s) { s("b", b); }
    void begin(training_run&) {}
};
static void train_with(const std::string& file, auto&&... hooks) {
    auto data = points(8, 3) | data::batch(8);
    estimator model{net, softmax_cross_entropy, sgd{}, {.threads = 1}};
    model.train(data, {.epochs = 1, .progress = nullptr}, save_checkpoints(file, {.resume = true}), hooks...);
}
BOOST_AUTO_TEST_CASE(a_run_of_which_nothing_is_left_says_so) {
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors", said = folder / "progress";
    for (int i = 0; i < 2; ++i) {
        auto data = points(8, 3) | data::batch(4);
        estimator model{net, softmax_cross_entropy, sgd{}, {.threads = 1}};
        std::FILE* out = std::fopen(said.c_str(), "w");
        BOOST_REQUIRE(out);
        model.train(data, {.epochs = 1, .progress = out}, save_checkpoints(file, {.resume = true}));
        std::fclose(out);
        std::string line;
        std::getline(std::ifstream(said), line);
        const bool nothing = line == "nothing to train: the saved run has all steps that are asked for, 2";
        BOOST_TEST(nothing == (i == 1), line);
    }
}
BOOST_AUTO_TEST_CASE(every_type_comes_back_and_names_are_numbered) {
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    keeps a, b{.i = 7, .list = {}, .text = ""}, c{false, 0, 0, 0, 0, {9}, {9}, "other"}, d;
    train_with(file, a, b);
    const auto saved = safetensors::read(file);
    BOOST_TEST(saved.tensors.contains("hooks/keeps/b"));
    BOOST_TEST(saved.at("hooks/keeps_2/i").as<int>()[0] == 7);
    train_with(file, c, d);
    BOOST_TEST((c == a));
    BOOST_TEST((d == b));
}
BOOST_AUTO_TEST_CASE(other_hooks_are_named_and_nothing_changes) {
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    keeps a;
    train_with(file, a);
    check_error<mismatch_error>([&] { train_with(file); }, "'hooks/keeps/b': unexpected", file);
    keeps b{.i = 5};
    early_stop stop;
    check_error<mismatch_error>([&] { train_with(file, b, stop); }, "hooks/early_stop/wait: missing", file);
    BOOST_TEST(b.i == 5);
    another other;
    check_error<mismatch_error>([&] { train_with(file, other); },
                                "hooks/keeps/b: got U8 [], needed F64, one number", file);

    estimator model{net, softmax_cross_entropy, sgd{}, {.threads = 1}};
    model.load(file);   // leaves hooks alone
    BOOST_TEST(model.inner().steps() == 1);
    predictor alone{net, weights_file(file)};
    model.save(file);
    check_error<mismatch_error>([&] { train_with(file); }, "run/epoch: missing", file);
    check_error<mismatch_error>([&] { train_with(file); }, "It has a model and no run", file);
    std::ofstream(file) << "no such thing";
    check_error<format_error>([&] { train_with(file); }, "", file);
}
BOOST_AUTO_TEST_CASE(checkpoints_at_their_times_and_hooks_are_told) {
    const temporary_folder folder;
    const std::string file = folder / "run.safetensors";
    struct {
        std::vector<std::int64_t> steps;
        std::string last;
        void checkpoint_saved(training_run& r, const std::string& f) { steps.push_back(r.step), last = f; }
    } told;
    static double now;
    now = 0;
    const auto steps_of = [&](save_options o, int epochs) {
        auto data = points(32, 3) | data::batch(8);   // four steps
        estimator model{net, softmax_cross_entropy, sgd{}, {.threads = 1}};
        told.steps.clear();
        model.train(data, {.epochs = epochs, .progress = nullptr}, told, save_checkpoints(file, o));
        return told.steps;
    };
    const auto is = [](std::initializer_list<std::int64_t> x) { return std::vector<std::int64_t>(x); };
    BOOST_TEST((steps_of({}, 2) == is({4, 8})));
    BOOST_TEST((steps_of({.every_steps = 3}, 2) == is({3, 6, 8})));
    BOOST_TEST((steps_of({.every_seconds = 2, .clock = [] { return now += 1; }}, 1) == is({2, 4, 4})));
    BOOST_TEST(told.last == file);
    check_error<option_error>([&] { save_checkpoints(file, {.every_steps = 1, .every_seconds = 1}); },
                              "when it is time", "save_checkpoints");
    check_error<option_error>([&] { save_checkpoints(file, {.every_steps = -1}); }, "steps or seconds",
                              "save_checkpoints", "-1");
}
BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_ends_training_with_an_error) {
    const temporary_folder folder;
    write_bytes(folder / "file", "x");
    check_error<io_error>([&] { train_with(folder / "file/run.safetensors"); }, "", folder / "file");
}
BOOST_AUTO_TEST_CASE(folders_that_are_missing_are_made) {
    const temporary_folder folder;
    auto data = points(8, 3) | data::batch(8), held_out = points(8, 4) | data::batch(8);
    estimator model{net, softmax_cross_entropy, sgd{}, {.threads = 1}};
    const std::string best = folder / "c/d/best.safetensors";
    keep_best keeps({.file = best.c_str()});
    model.train(data, {.epochs = 1, .validation = &held_out, .progress = nullptr}, csv_log(folder / "a/b/log.csv"),
                keeps, save_checkpoints(folder / "e/f/run", {.keep = 2}));
    model.save(folder / "g/h/weights.safetensors");
    for (const char* file : {"a/b/log.csv", "c/d/best.safetensors", "e/f/run/step-1.safetensors",
                             "g/h/weights.safetensors"})
        BOOST_TEST(std::filesystem::exists(folder / file), file);
}
