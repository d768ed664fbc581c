// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/base/separate_compilation.hpp>
#include <sinter/train/options.hpp>
#include <sinter/train/results.hpp>
#include <functional>
#include <string>

namespace sinter::inline SINTER_ORDINARY {

/// What a process does in train_and_evaluate.
enum class duty : std::uint8_t {
    automatic,   ///< as the strategy's roster says: the evaluator evaluates; without one, all train and evaluate
    both,        ///< trains, and evaluates some checkpoints
    train,       ///< trains; another process evaluates
    evaluate,    ///< follows the checkpoints that other processes write
    serve        ///< holds weights for those that train: a parameter server
};

/// How train_and_evaluate trains.
struct train_spec {
    data::pipeline_ref data{};        ///< repeated as often as max_steps takes
    std::int64_t max_steps = 0;   ///< of the model in all, those of earlier runs included: a second call does nothing
    std::string folder{};   ///< of the checkpoints; a run that finds some goes on from the newest; empty: the cluster's
    std::int64_t every_steps = 0;     ///< between two checkpoints; or
    double every_seconds = 600;       ///< where every_steps is 0
    int keep = 5;                     ///< checkpoints; the evaluator needs time to read one
    duty does = duty::automatic;
    std::FILE* progress = stderr;     ///< the chief's and the evaluator's; null: silence
};

/// How it evaluates.
struct eval_spec {
    data::pipeline_ref data{};
    std::vector<metrics::named> metrics{};
    std::int64_t batches = 0;    ///< at most so many; 0: all of a pass
    double start_delay = 120;    ///< seconds before the evaluator looks for a checkpoint
    double throttle = 600;       ///< seconds between the beginnings of two evaluations, but for the last
    double give_up_after = 0;    ///< seconds without a new checkpoint or an end; 0: the evaluator waits for ever
    /// Called after each evaluation, where it was made (of several members: by the chief).
    std::function<void(std::int64_t step, const evaluation_result&)> evaluated{};
    double (*clock)() = base::monotonic_seconds;
};

/// A checkpoint's step, and what it measured.
struct step_evaluation {
    std::int64_t step = 0;
    evaluation_result result{};
};

/// What train_and_evaluate has done in this process.
struct train_and_evaluate_result {
    duty does = duty::both;                       ///< what this process did
    std::vector<epoch_result> epochs{};           ///< that have ended in this call; empty in an evaluator
    std::vector<step_evaluation> evaluations{};   ///< that this process had a part in, the last of the end's weights
    std::int64_t steps = 0;                       ///< of the model
    bool interrupted = false;                     ///< by a signal: the same command goes on
    /// An evaluator's: each checkpoint has the weights of one moment. Not so where asynchronous
    /// workers of parameter servers go on while the chief saves.
    bool one_moment = true;
};

namespace training_parts {
/// option_error for what cannot be meant.
SINTER_APART SINTER_COLD void check(const train_spec& t, const eval_spec& e);
} // namespace training_parts

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/number_text.hpp>
namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART void check(const train_spec& t, const eval_spec& e) {
    const auto refuse = [](const char* what, const std::string& got, const char* needed) {
        throw option_error(what, "train_and_evaluate", got, needed);
    };
    if (t.max_steps < 1) refuse("number of steps", to_text({t.max_steps}), "max_steps, 1 or more");
    if (t.folder.empty()) refuse("folder of the checkpoints", "none", "train_spec::folder, or model_dir in TF_CONFIG");
    if (t.keep < 1) refuse("checkpoints to keep", to_text({t.keep}), "1 or more");
    if (t.every_steps < 0 || !(t.every_seconds >= 0) || (t.every_steps == 0 && t.every_seconds == 0))
        refuse("time between two checkpoints",
               to_text({t.every_steps, " steps, ", base::number_text(t.every_seconds), " s"}),
               "every_steps or every_seconds");
    if (!e.data) refuse("data to evaluate", "none", "eval_spec::data");
    if (!t.data && t.does != duty::evaluate) refuse("data to train on", "none", "train_spec::data");
    if (e.batches < 0) refuse("batches of an evaluation", to_text({e.batches}), "0 or more");
    if (!(e.start_delay >= 0 && e.throttle >= 0 && e.give_up_after >= 0))
        refuse("seconds", "less than 0", "start_delay, throttle and give_up_after of 0 or more");
}

} // namespace sinter::training_parts
#endif
