// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <boost/test/unit_test.hpp>
#include "io/temporary_folder.hpp"
#include <csignal>
#include <functional>
#include <random>
#include <sinter/sinter.hpp>
#include <sinter/train/hooks/early_stop.hpp>
#include <sinter/train/hooks/save_checkpoints.hpp>
#include <sinter/train/hooks/stop_on_signals.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

struct killed : std::runtime_error {
    killed() : runtime_error("killed") {}
};

/// A run of 18 steps in three epochs that resumes; its weights at the end. Throws `killed` behind step `dies`.
inline std::vector<float> short_run(const std::string& file, sinter::save_options saving, std::int64_t dies = -1,
                                    std::function<void(std::int64_t)> behind_step = {},
                                    sinter::stop_on_signals* signals = nullptr) {
    using namespace sinter;
    std::vector<float> x;
    std::vector<std::int32_t> labels;
    random_stream random(7);
    for (int i = 0; i < 48; ++i) {
        const float a = random.uniform(0, 1), b = random.uniform(0, 1);
        x.insert(x.end(), {a, b});
        labels.push_back(a > b);
    }
    const data::dataset all = data::dataset(extents(2), std::move(x)).labels(std::move(labels), 2);
    auto data = data::source(all) | data::shuffle(20) | data::batch(8);
    auto held_out = data::source(all) | data::shuffle(20) | data::batch(8);
    estimator model{features<2> >> dense<4> >> relu >> dropout<0.3f> >> dense<2>, softmax_cross_entropy,
                    adam{.learning_rate = warm_up(10, cosine(0.1f, 100))}, {.threads = 1}};
    early_stop stop({.patience = 9});
    saving.resume = true;
    struct {
        std::int64_t dies;
        std::function<void(std::int64_t)>* behind_step;
        void after_step(training_run& run, const data::batch_view&) {
            if (*behind_step) (*behind_step)(run.step);
            if (run.step == dies) throw killed();
        }
    } ends{dies, &behind_step};
    const train_options o{.epochs = 3, .validation = &held_out, .progress = nullptr};
    if (signals) model.train(data, o, *signals, stop, save_checkpoints(file, saving), ends);
    else model.train(data, o, stop, save_checkpoints(file, saving), ends);
    std::vector<float> w;
    for (int i = 0; i < model.inner().parameters(); ++i)
        for (float v : model.inner().plain(model.inner().parameter(i))) w.push_back(v);
    return w;
}

/// A child that saves behind every step is killed so many times at random points, and started again where it was; then
/// the run is ended. Its weights are those of a run that nobody killed, and no temporary file is left.
inline void kill_at_random_points(int times) {
    temporary_folder folder;
    const sinter::save_options o{.every_steps = 1, .keep = 2, .restarts_at_a_step = 0};
    const std::vector<float> whole = short_run(folder / "whole", o);
    std::minstd_rand random(11);
    int left = times, files = 0;
    while (left > 0) {
        const std::string name = folder / ("run" + std::to_string(files++)).c_str();
        for (int kills = 0; kills < 4 && left > 0; ++kills, --left) {
            const pid_t child = ::fork();
            if (child == 0) {
                try {
                    short_run(name, o);
                } catch (...) {
                    ::_exit(1);
                }
                ::_exit(0);
            }
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
            ::kill(child, SIGKILL);
            int status = 0;
            ::waitpid(child, &status, 0);
            // an error would be a file that is not whole
            BOOST_TEST((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
        }
        BOOST_TEST((short_run(name, o) == whole));
        std::size_t entries = 0;
        for (const auto& e : std::filesystem::directory_iterator(name)) {
            (void)e;
            ++entries;
        }
        // two files, the record, and at most one that was being written for a step never reached
        // again
        BOOST_TEST(entries <= 4u);
    }
}
