// SPDX-License-Identifier: BSL-1.0
// shows servers: whoever asks, workers stop, or save, after one step with one file
// weighs: 3
// needs: distributed
#include "job.hpp"
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <io/temporary_folder.hpp>
#include <sinter/base/decimal.hpp>
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/parameter_server.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/stop_on_signals.hpp>
#include <set>
#include <limits>
#include <filesystem>
#include <cstdlib>

// Workers that share batches end behind the same step and save there once, whoever asks and in whatever way, also
// where they may be some steps apart.
using namespace sinter;

namespace {

constexpr auto net = features<8> >> dense<16> >> relu >> dense<3>;
constexpr int batch = 12, examples = 40 * batch;

/// What a worker does, and when, in a run of 400 steps.
enum class does { asks, has_signal, has_bad_example, has_bad_example_and_fails, asks_for_files };

/// Each worker sleeps now and then, so that they are apart as far as the mode lets them. Worker `who` does something
/// behind its 20th step.
struct deed {
    does what;
    int who;
    std::uint64_t seed;
    int steps = 0;
    random_stream pauses{seed};

    void after_step(training_run& run, const data::batch_view&) {
        if (pauses.word() % 8 == 0) ::usleep(static_cast<useconds_t>(pauses.word() % 3000));
        if (++steps < 20 || run.chief != (who == 0)) return;
        if (what == does::asks) run.ask_to_stop("enough");
        if (what == does::has_signal && steps == 20) std::raise(SIGTERM);
        if (what == does::asks_for_files && steps % 20 == 0) run.ask_to_save();
    }
};
struct files_when_asked {
    std::string folder;
    std::string steps;
    template <class Run>
    void after_step(Run& run, const data::batch_view&) {
        if (!run.save_is_asked) return;
        steps += to_text({run.step, " "});
        run.save_checkpoint(to_text({folder, "/asked-", run.step}));
    }
};
std::string files_in(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& f : std::filesystem::directory_iterator(folder)) {
        const std::string name = f.path().filename().string();
        if (name.ends_with(".safetensors") || name.starts_with("asked-")) names.insert(name);
    }
    std::string all;
    for (const std::string& n : names) all += n + " ";
    return all;
}

/// "step S files ", and the steps of the files that were asked for.
template <auto Mode>
std::string trained(const cluster& c, does what, int who, const std::string& folder) {
    estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 1e-3f}, max_batch<batch>,
                    parameter_server<Mode>{c, {.input = batch_input::global}}, {.threads = 1}};
    std::vector<float> x(std::size_t{8} * examples);
    std::vector<std::int32_t> labels(examples);
    random_stream r(5);
    for (float& v : x) v = r.normal();
    for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r.word() % 3);
    const bool bad = what == does::has_bad_example || what == does::has_bad_example_and_fails;
    if (bad && c.rank() == who)   // in its part of the 21st batch; each has the same data but for that
        x[std::size_t{8} * batch * 20 + std::size_t{8} * 4 * static_cast<std::size_t>(who)] =
            std::numeric_limits<float>::infinity();
    auto data = data::source(data::dataset(extents(8), x).labels(labels)) | data::batch(batch);
    stop_on_signals signals;
    files_when_asked asked{folder, {}};
    model.train(data,
                {.epochs = 10, .progress = nullptr,
                 .not_finite = what == does::has_bad_example ? on_not_finite::stop : on_not_finite::fail},
                deed{what, who, static_cast<std::uint64_t>(c.rank() + 7)}, signals, asked,
                save_checkpoints(folder, {.every_steps = 10000, .keep = 9}));
    if (model.inner().session().serves()) return "served";
    return to_text({"step ", model.inner().steps(), " files ", asked.steps});
}
std::int64_t number_behind(const std::string& text, const std::string& word) {
    const auto at = text.find(word + " ");
    return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + word.size() + 1);
}
template <auto Mode>
void all_stop_behind_one_step(does what, int who) {
    const temporary_folder folder;
    const std::string where = folder / "run";
    std::filesystem::create_directory(where);
    server_job job(3, 2);
    job.start_all([&](const cluster& c) { return trained<Mode>(c, what, who, where); });
    const std::string chief = job.result(0);
    const std::int64_t step = number_behind(chief, "step");
    BOOST_TEST_CONTEXT("what " << static_cast<int>(what) << ", who " << who << ", chief: " << chief) {
        BOOST_TEST((step >= 20 && step < 400));
        for (int i = 1; i < 3; ++i) BOOST_TEST(job.result(i) == chief);
        for (int i = 3; i < 5; ++i) BOOST_TEST(job.result(i) == "served");
        const checkpoint_folder files(where, 9);
        BOOST_TEST(files_in(where) == files.name(step).substr(where.size() + 1) + " ");
    }
}

BOOST_AUTO_TEST_CASE(who_asks_and_who_has_a_signal) {
    for (const int who : {0, 2})
        for (const does what : {does::asks, does::has_signal}) {
            all_stop_behind_one_step<sync<0>>(what, who);
            all_stop_behind_one_step<sync<1>>(what, who);
            all_stop_behind_one_step<stale<3>>(what, who);
        }
}
BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite) {
    for (const int who : {0, 1}) {
        all_stop_behind_one_step<sync<0>>(does::has_bad_example, who);
        all_stop_behind_one_step<stale<3>>(does::has_bad_example, who);
    }
}
BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_is_an_error_for_all) {
    const temporary_folder folder;
    const std::string where = folder / "run";
    server_job job(3, 1);
    job.start_all([&](const cluster& c) { return trained<stale<3>>(c, does::has_bad_example_and_fails, 1, where); });
    BOOST_TEST(job.result(1).find("the batch has a number that is not finite") != std::string::npos, job.result(1));
    for (const int i : {0, 2}) {
        BOOST_TEST(job.result(i).find("worker/1") != std::string::npos, job.result(i));
        BOOST_TEST(job.result(i).find("a number that is not finite") != std::string::npos, job.result(i));
    }
}
BOOST_AUTO_TEST_CASE(all_save_where_one_asks) {
    const auto of = [](auto mode, int who) {
        const temporary_folder folder;
        const std::string where = folder / "run";
        std::filesystem::create_directory(where);
        server_job job(3, 2);
        job.start_all(
            [&](const cluster& c) { return trained<decltype(mode)::value>(c, does::asks_for_files, who, where); });
        const std::string chief = job.result(0);
        BOOST_TEST(number_behind(chief, "step") == 400, chief);
        BOOST_TEST(number_behind(chief, "files") > 20, chief);
        for (int i = 1; i < 3; ++i) BOOST_TEST(job.result(i) == chief);
    };
    of(std::integral_constant<decltype(&sync<1>), &sync<1>>{}, 0);
    of(std::integral_constant<std::remove_const_t<decltype(stale<3>)>, stale<3>>{}, 2);
    of(std::integral_constant<decltype(&sync<0>), &sync<0>>{}, 1);
}

/// Epochs, and the loss that each ended with.
std::string stops_early(const cluster& c) {
    estimator model{net, softmax_cross_entropy, sgd{.learning_rate = 0.5f}, max_batch<batch>,
                    parameter_server<stale<3>>{c, {.input = batch_input::global}}, {.threads = 1}};
    std::vector<float> x(std::size_t{8} * examples);
    std::vector<std::int32_t> labels(examples);
    random_stream r(9);
    for (float& v : x) v = r.normal();
    for (std::int32_t& l : labels) l = static_cast<std::int32_t>(r.word() % 3);
    auto data = data::source(data::dataset(extents(8), x).labels(labels)) | data::batch(batch);
    early_stop stop({.what = watched::loss, .min_delta = 1e-3, .patience = 0});
    const auto done = model.train(data, {.epochs = 60, .progress = nullptr}, stop);
    if (model.inner().session().serves()) return "served";
    std::string all = to_text({"epochs ", done.size(), " stopped ", stop.stopped() ? 1 : 0});
    for (const epoch_result& e : done) all += " " + base::general_text(double{e.loss}, 17);
    return all;
}
BOOST_AUTO_TEST_CASE(losses_of_epochs_are_those_of_all) {
    server_job job(3, 2);
    job.start_all(stops_early);
    BOOST_TEST(number_behind(job.result(0), "stopped") == 1, job.result(0));
    for (int i = 1; i < 3; ++i) BOOST_TEST(job.result(i) == job.result(0));
}

} // namespace
