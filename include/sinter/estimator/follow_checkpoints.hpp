// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/estimator/train_spec.hpp>
#include <sinter/train/hooks/stop_on_signals.hpp>
#include <sinter/train/evaluated_model.hpp>
#include <cstdio>

namespace sinter::inline SINTER_ORDINARY::training_parts {

/// One line: "step 300: loss 0.4125, accuracy 0.8800, f1 0.8712".
SINTER_APART SINTER_COLD void tell_evaluation(std::FILE* out, std::int64_t step, const evaluation_result& r);

/// The evaluator's work: each newest checkpoint is loaded and evaluated, at most one every throttle
/// seconds, until the last one has been; the newest is the one that was written last, whatever its step. While it
/// waits it says so, and for what. It takes no part in training and is not needed by it: it
/// may come late, and come again. Checkpoints that are gone or damaged, or that somebody changes
/// meanwhile, are passed over.
SINTER_APART SINTER_COLD train_and_evaluate_result follow_checkpoints(evaluated_model& model, const train_spec& t,
                                                                      const eval_spec& e,
                                                                      const stop_on_signals& signals);

} // namespace sinter::training_parts

#if SINTER_BODIES
#include <sinter/base/number_text.hpp>
#include <sinter/base/os/file_names.hpp>
#include <sinter/base/wait_notice.hpp>
#include <sinter/estimator/training_end.hpp>
#include <sinter/train/checkpoint/trainer_files.hpp>
#include <sinter/train/checkpoint/checkpoint_folder.hpp>
#include <sinter/train/evaluation.hpp>
#include <sinter/train/progress_line.hpp>
#include <chrono>
#include <optional>
#include <thread>

namespace sinter::inline SINTER_ORDINARY::training_parts {

SINTER_APART void tell_evaluation(std::FILE* out, std::int64_t step, const evaluation_result& r) {
    if (!out) return;
    std::string line = to_text({"step ", step, ": loss ", four_decimals(r.loss)});
    if (r.accuracy == r.accuracy) line += ", accuracy " + four_decimals(r.accuracy);
    for (const metric_value& m : r.metrics) line += to_text({", ", m.name, " ", four_decimals(m.value)});
    std::fprintf(out, "%s\n", line.c_str());
    std::fflush(out);
}

/// A checkpoint that is evaluated. Tables of 64-bit keys stay in the file, where a batch's rows are
/// read while it is evaluated.
class followed_checkpoint {
public:
    explicit followed_checkpoint(const trainer_facts& of) : of_(of), large_(has_hashed_tables(of)) {}
    /// Throws what checkpoint_folder::read_whole() throws.
    void read(const std::string& file) {
        if (large_) opened_ = open_trainers_file(of_, file);
        else checkpoint_folder::read_whole(path_ = file, bytes_);
    }
    /// Throws what load() throws.
    void load(trainer_state& to) {
        if (large_) read_checkpoint({}, *opened_, to, saved::weights);
        else read_checkpoint({}, contents(), to, saved::weights);
    }
    /// Whether somebody else has written to it since it was read.
    bool has_changed() const {
        try {
            if (large_) need_table_files(*opened_);
            else need_table_files(contents());
        } catch (const error&) {
            return true;
        }
        return large_ && opened_->left_in->has_changed();
    }

private:
    const trainer_facts& of_;
    bool large_;
    std::string path_;
    std::vector<std::byte> bytes_;
    std::optional<safetensors::file> opened_;

    safetensors::contents contents() const {
        return safetensors::parse(span<const std::byte>(bytes_.data(), bytes_.size()), path_);
    }
};

SINTER_APART train_and_evaluate_result follow_checkpoints(evaluated_model& model, const train_spec& t,
                                                          const eval_spec& e, const stop_on_signals& signals) {
    need_evaluable(model, *e.data, e.metrics, e.batches, "train_and_evaluate, eval_spec");
    train_and_evaluate_result r{.does = duty::evaluate};
    const checkpoint_folder files(t.folder, t.keep);
    const training_end end(t.folder);
    training_run run;   // that an evaluation within it can be interrupted
    run.stop_when(&stop_on_signals::asked);
    r.one_moment = model.session().saves_one_moment();
    if (t.progress && !r.one_moment)
        std::fputs("A checkpoint is not a consistent snapshot: workers keep training while it is written.\n",
                   t.progress);
    const double began = e.clock();
    double last = began - e.throttle, heard = began;
    std::optional<known_checkpoint> done;
    std::vector<known_checkpoint> refused;
    base::wait_notice notice;
    const auto wait = [&](auto for_what) {
        if (notice.is_due()) base::say(message_level::normal, for_what(), "evaluator");
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    };
    const auto is_refused = [&](const known_checkpoint& c) {
        return std::ranges::any_of(refused, [&](const auto& x) { return x.step == c.step && x.file == c.file; });
    };
    const auto has_come_to = [&](std::int64_t step) {
        return (done && done->step >= step) ||
               std::ranges::any_of(refused, [&](const known_checkpoint& c) { return c.step >= step; });
    };
    while (!signals && e.clock() - began < e.start_delay)
        wait([&] { return to_text({"waits ", base::number_text(e.start_delay), " s before it looks (start_delay)"}); });
    notice.begin();
    while (!signals) {
        std::string doubt;
        const std::int64_t ended = end.step(t.max_steps, &doubt);   // before the list: what comes later is not missed
        const std::vector<known_checkpoint> all = files.all();
        const auto newest = std::ranges::find_if_not(all, is_refused);
        const bool is_new = newest != all.end() && newest->in_history &&
                            (!done || newest->is_later(*done) ||
                             (!newest->readable && newest->file != done->file));
        const bool is_last = ended >= 0 && is_new && newest->step >= ended;
        if (ended >= 0 && !is_last && has_come_to(ended)) break;
        const double now = e.clock();
        if (!is_new || (!is_last && now - last < e.throttle)) {
            if (is_new) heard = now;
            if (e.give_up_after > 0 && now - heard > e.give_up_after)
                throw io_error("no new checkpoint, and no word that training has ended", t.folder,
                               to_text({"the last of step ", done ? done->step : -1, ", ",
                                       base::number_text(now - heard), " s ago", doubt}),
                               "a chief that trains, or a longer give_up_after");
            wait([&] {
                if (is_new)
                    return to_text({"waits before it evaluates step ", newest->step, " (throttle, ",
                                   base::number_text(e.throttle), " s)"});
                return to_text({"waits for ", done ? to_text({"a checkpoint after step ", done->step})
                                                  : std::string("the first checkpoint"),
                               " in ", t.folder, doubt});
            });
            continue;
        }
        const known_checkpoint now_read = *newest;
        const std::string name = files.name(now_read.step);
        followed_checkpoint file(model.state().facts);
        const auto refuse = [&](const error& fault) {
            base::say(message_level::warning, fault.what() + std::string(". It is not evaluated."), "evaluator");
            refused.push_back(now_read);
        };
        try {
            file.read(name);
        } catch (const error& fault) {
            if (!base::os::exists(name)) continue;   // replaced by newer ones meanwhile
            refuse(fault);
            continue;
        }
        last = heard = now;
        evaluation_result found;
        try {
            file.load(model.state());
            found = training_parts::evaluate(model, *e.data, e.metrics, &run, e.batches);
        } catch (const error& fault) {
            if (!file.has_changed()) throw;
            refuse(fault);
            continue;
        }
        if (found.interrupted) break;
        done = now_read;
        r.steps = done->step;
        tell_evaluation(t.progress, r.steps, found);
        if (e.evaluated) e.evaluated(r.steps, found);
        r.evaluations.push_back({r.steps, std::move(found)});
        heard = e.clock();
        notice.begin();
    }
    r.interrupted = static_cast<bool>(signals);
    return r;
}

} // namespace sinter::training_parts
#endif
