// SPDX-License-Identifier: BSL-1.0
#pragma once
#include "../common/dataset.hpp"
#include "settings.hpp"
#include <sinter/estimator/train_and_evaluate.hpp>
#include <sinter/sinter.hpp>
#include <sinter/train/report.hpp>

namespace distributed {

using namespace sinter;

inline constexpr auto net = image<28, 28, 1>
    >> conv2d<32, 3> >> relu >> max_pool<2>
    >> conv2d<64, 3> >> relu >> max_pool<2>
    >> flatten >> dense<128> >> relu >> dropout<0.2f> >> dense<10>;

/// All of the program that knows of a strategy: it is one more argument of the estimator. Every
/// process of a job runs this; the chief writes the files.
template <class Strategy>
int train(const settings& s, const Strategy& strategy) {
    const example::dataset images = example::find_dataset(s.data, s.seed);
    estimator model{net, softmax_cross_entropy, adam{.learning_rate = 1e-3f}, max_batch<largest_batch>, strategy,
                    {.threads = s.threads, .seed = s.seed}};
    // A worker at its own pace (parameter_server:async) goes over the data in an order of its own.
    const bool alone = model.inner().session().independent();
    const int who = std::max(0, model.inner().session().member().index);
    const std::uint64_t order = s.seed + static_cast<std::uint64_t>(alone ? who : 0);
    auto training = data::source(images.train) | data::shuffle(10'000, order) | data::batch(s.batch) | data::prefetch();
    auto test = data::source(images.test) | data::batch(s.batch);
    train_and_evaluate_result r;
    if (!s.checkpoint.empty()) {
        r = train_and_evaluate(model,
                               {.data = &training,
                                .max_steps = s.steps,
                                .folder = s.checkpoint,
                                .every_steps = s.every},
                               {.data = &test, .start_delay = 0});
    } else {
        stop_on_signals signals;
        r.epochs = model.train(training, {.max_steps = s.steps}, signals);
        if (model.inner().session().serves()) return 0;
        r.steps = model.inner().steps();
        r.interrupted = signals || (r.steps < s.steps && !alone);
        if (!r.interrupted && (!alone || model.inner().session().member().chief()))
            r.evaluations.push_back({r.steps, model.evaluate(test)});
    }
    const membership member = model.inner().session().member();   // at the end: in an elastic job it may change
    if (r.interrupted) return 3;
    if (r.does == duty::evaluate || r.does == duty::serve) return 0;
    if (!s.save.empty()) model.save(s.save);   // every process that trains calls this, and the chief writes
    if (!member.chief()) return 0;
    // Where another process evaluates, it has told what it found.
    const evaluation_result e = r.evaluations.empty() ? evaluation_result{epoch_result::unknown, epoch_result::unknown}
                                                      : r.evaluations.back().result;
    double seconds = 0;
    std::int64_t seen = 0;
    for (const epoch_result& epoch : r.epochs) seconds += epoch.seconds, seen += epoch.examples;
    std::printf("Test accuracy %.4f on %s after %lld steps; %.0f images/s; %d process%s.\n", e.accuracy,
                images.name.c_str(), static_cast<long long>(r.steps),
                seconds > 0 ? static_cast<double>(seen) / seconds : 0, member.count, member.count == 1 ? "" : "es");
    if (!s.report.empty()) {
        report out;
        out.program = "distributed";
        out.set("strategy", s.detail.empty() ? s.strategy : s.strategy + ":" + s.detail);
        out.set("canonical", s.canonical);
        out.set("processes", member.count);
        out.set("data", images.name);
        out.set("batch", s.batch);
        out.set("seed", s.seed);
        for (const epoch_result& epoch : r.epochs) out.loss_by_epoch.push_back(epoch.loss);
        out.test_accuracy = e.accuracy;
        out.results = {{"steps", static_cast<double>(r.steps)}, {"test_loss", e.loss}};
        out.seconds = seconds;
        out.examples_per_second = seconds > 0 ? static_cast<double>(seen) / seconds : 0;
        out.write(s.report);
    }
    return 0;
}

} // namespace distributed
