// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/data/pipeline.hpp>
#include <sinter/train/checkpoint/run_archive.hpp>
#include <sinter/train/data_places.hpp>
#include <sinter/train/epoch_sums.hpp>
#include <sinter/train/hooks/hook_table.hpp>
#include <sinter/train/trained_model.hpp>
#include <memory>

namespace sinter::inline SINTER_ORDINARY {

class validation;   // train/hooks/validation.hpp

/// A run whose hooks know what is trained, whatever its type: they ask its values, steps and members by `trained`.
/// model_run (train/model_run.hpp) derives from it and has the trainer itself.
struct loop_run : training_run {
    trained_model& trained;   ///< see train/trained_model.hpp
    data::pipeline& data;     ///< that it is trained on; not to be read from

    /// Asks for the whole run to be saved in this file, once all hooks have had the present call;
    /// what is asked for before a step or at a pass's end is done after the step or at the epoch's
    /// end. `owner` is asked whether this run may still write (io/run_record.hpp). Where
    /// several processes train the model, hooks of all of them ask at the same step.
    SINTER_SELDOM SINTER_COLD void save_checkpoint(std::string file, run_record* owner = nullptr);
    /// How the run is saved, and gone on with: load() in resume() alone. Whoever calls this or save_checkpoint()
    /// includes train/checkpoint/run_checkpoint.hpp: the loop does without it, so that other programs do.
    SINTER_SELDOM SINTER_COLD run_archive& archive();
    /// The same for a process that joins, or is joined.
    run_archive& archive_for_joining() {
        if (!archive_) archive_ = trained.archive_for_joining(*this);
        return *archive_;
    }

    // ---- of the loop
    span<const training_parts::hook_calls> hooks;
    validation* validated = nullptr;   ///< of the options
    training_parts::epoch_sums sums;
    training_parts::data_places places{};   ///< where members read data of their own
    bool within_pass = false;   ///< the epoch's steps have begun, and it has not been measured
    bool pass_over = false;     ///< this member's data have come to the end of the pass
    double began = 0;           ///< when the pass began, less what a resumed one had taken before

    SINTER_APART SINTER_COLD loop_run(trained_model& t, data::pipeline& d);
    SINTER_APART SINTER_COLD virtual ~loop_run();
    session_base& session() const { return trained.session(); }
    /// A call of all hooks, and what they have asked for in it.
    SINTER_SELDOM SINTER_COLD void tell(training_parts::hook_call call);
    /// Who the members are now, where they may change: they do so in whatever they do together.
    void know_members() {
        if (members_change_) look_at_members();
    }
    void save_what_is_asked() {
        if (!files_.empty()) save_all();
    }
    /// What the loop remembers, in a checkpoint.
    SINTER_SELDOM SINTER_COLD void state(hook_state& s);

private:
    struct to_save {
        std::string file;
        run_record* owner;
    };
    std::vector<to_save> files_;
    std::size_t begun_ = 0;   ///< hooks that have had begin
    std::unique_ptr<run_archive> archive_;   ///< of this run, once somebody has asked for it
    const bool members_change_;

    SINTER_SELDOM SINTER_COLD void look_at_members();
    SINTER_SELDOM SINTER_COLD void save_all();
};

} // namespace sinter

#if SINTER_BODIES
#include <sinter/base/os/monotonic_seconds.hpp>
#include <sinter/train/hooks/hook_calls.hpp>
#include <sinter/train/hooks/validation.hpp>
#include <sinter/train/members.hpp>

namespace sinter::inline SINTER_ORDINARY {

SINTER_APART loop_run::loop_run(trained_model& t, data::pipeline& d)
    : trained(t), data(d), sums(t.phases), members_change_(t.session().joining() != nullptr) {
    step = t.state().steps();
    chief = session().member().chief();
    alone = training_parts::is_alone(session());
    apart = session().may_lag();
}
SINTER_APART loop_run::~loop_run() = default;
SINTER_SELDOM_BODY void loop_run::save_checkpoint(std::string file, run_record* owner) {
    archive();
    files_.push_back({std::move(file), owner});
}
SINTER_SELDOM_BODY run_archive& loop_run::archive() {
    if (!archive_) archive_ = training_parts::archive_of(*this);
    return *archive_;
}
SINTER_SELDOM_BODY void loop_run::tell(training_parts::hook_call call) {
    using training_parts::hook_call;
    for (const training_parts::hook_calls& h : hooks) {
        know_members();
        training_parts::tell(h, call, *this);
        begun_ += call == hook_call::begin;
    }
    know_members();
    if (call != hook_call::pass_end) save_what_is_asked();
}
SINTER_SELDOM_BODY void loop_run::look_at_members() {
    alone = training_parts::is_alone(session());
    if (chief == session().member().chief()) return;
    chief = !chief;
    for (const training_parts::hook_calls& h : hooks.first(begun_))
        training_parts::tell(h, training_parts::hook_call::chief_changed, *this);
}
SINTER_SELDOM_BODY void loop_run::save_all() {
    const std::vector<to_save> files = std::move(files_);
    files_.clear();
    if (lost || training_parts::leaves_files_to_others(session())) return;
    sums.merge(session());
    if (within_pass) result.seconds = base::monotonic_seconds() - began;
    for (const to_save& f : files) {
        archive_->save(f.file, f.owner);
        session().checkpoint_saved(f.file);
        for (const training_parts::hook_calls& h : hooks) {
            know_members();
            if (h.checkpoint_saved) h.checkpoint_saved(h.hook, *this, f.file);
        }
        know_members();
    }
}
SINTER_SELDOM_BODY void loop_run::state(hook_state& s) {
    s("epoch", epoch)("within_pass", within_pass)("examples", result.examples)("seconds", result.seconds)("sums", sums);
    if (validated) s("validation", *validated);
    s.optional("first_example", result.first_example);
}

} // namespace sinter
#endif
