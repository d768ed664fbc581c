// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/strategy/session.hpp>
#include <sinter/train/results.hpp>
#include <string>
#include <vector>

namespace sinter::inline SINTER_ORDINARY {

namespace training_parts {
/// why_stopped() on members that did not know why themselves.
inline constexpr const char* stopped_by_members = "another member was asked to stop";
} // namespace training_parts

/// A call of train() as its hooks see it (train/hooks/hook.hpp). Hooks read it, add to `result`,
/// and may ask to stop. The model is known to loop_run (train/loop_run.hpp), which derives from this.
struct training_run {
    std::int64_t step = 0;              ///< steps done in all, those before a resumed run included
    int epoch = 0;                      ///< from 1; 0 before the first
    int epochs = 0;                     ///< as asked for; 0: as many as max_steps takes
    std::int64_t max_steps = 0;         ///< as asked for; 0: no limit
    std::int64_t examples_a_pass = 0;   ///< 0 where nobody knows
    bool resumed = false;               ///< goes on where a saved run was
    bool keeps_runs = false;   ///< set in resume(): a hook saves whole runs; it begins with what was loaded, or anew
    float loss = 0;                     ///< of the last step's batch, before its update
    int phase = 0;                      ///< which loss that was, where losses alternate
    bool chief = true;                  ///< whether this process writes files and messages; may change
    bool apart = false;   ///< members may be some steps apart: a step's loss is each one's own (stop_by_loss())
    bool alone = true;                  ///< whether no other process trains this model
    bool save_is_asked = false;         ///< some member has asked by ask_to_save(): all see it behind the same step
    bool lost = false;                  ///< it ends quietly and weights are not finite: nothing is measured or saved
    epoch_result result{};              ///< of this epoch so far

    /// Ends training without an error: once all hooks have had the present call, before another
    /// step. `why` is kept of the first who asks. Where several processes train the model it is for
    /// reasons that all of them have at the same step, such as the number of steps or what was
    /// measured (losses and metrics are those of all members); it takes effect without a word to
    /// the others. For what one process alone knows there is ask_to_stop().
    SINTER_COLD void stop(std::string_view why) {
        if (!stopping_) why_ = why;
        stopping_ = true;
    }
    /// The same for a reason that only this process has: a signal, a clock, a file. The question
    /// goes with the next step to all members, which then stop behind that step. Where there are no
    /// others it is stop().
    SINTER_COLD void ask_to_stop(std::string_view why) {
        if (alone) return stop(why);
        if (!asking_) asked_why_ = why;
        asking_ = true;
    }
    /// Ends training because of a step's loss: stop() where that is the loss of all members, and
    /// ask_to_stop() where it is this one's alone.
    SINTER_COLD void stop_by_loss(std::string_view why) { apart ? ask_to_stop(why) : stop(why); }
    /// Asks all members to save behind their next step: save_is_asked is true there.
    void ask_to_save() { asks_to_save_ = true; }
    bool stopping() const { return stopping_; }
    const std::string& why_stopped() const { return why_; }   ///< empty as long as nobody has asked

    /// In check_run(): `result` will have a value of this name, one of epoch_result::value().
    SINTER_COLD void will_measure(std::string name) { measured_.push_back(std::move(name)); }
    /// In check_run(): `hook` decides by the result's value of this name. Where no hook measures it training ends with
    /// an option_error before its first step.
    SINTER_COLD void need_measured(std::string name, const char* hook) { needed_.push_back({std::move(name), hook}); }
    /// Whether some hook decides by this value, of those that have had check_run().
    SINTER_COLD bool is_needed(std::string_view name) const {
        for (const need& n : needed_)
            if (n.name == name) return true;
        return false;
    }
    /// In check_run(): where what is missing may be found, in words of the error.
    void say_what_measures(std::string_view how) { what_measures_ = how; }

    /// `asked` is looked at once a step and once a batch of an evaluation, which it interrupts: for
    /// signals (train/hooks/stop_on_signals.hpp). Null: no more. In a server (serve()) it is looked
    /// at while that serves.
    void stop_when(bool (*asked)()) { interrupted_ = asked; }
    bool (*interruption() const)() { return interrupted_; }   ///< stop_when()'s function, or null
    /// Whether it says so now.
    bool interrupted() const { return interrupted_ && interrupted_(); }
    /// Whether this member is to leave what it is doing: by interrupted(), or because another one was asked to stop.
    bool asked_to_leave(session_base& s) const { return interrupted() || (!alone && s.asked_to_stop()); }
    /// Ends training before what is measured at the epoch's end is complete: the run is to be saved
    /// as within the epoch, and epoch_end is not called.
    SINTER_COLD void stop_unmeasured(std::string_view why) {
        stop(why);
        unmeasured_ = true;
    }
    bool unmeasured() const { return unmeasured_; }

    // ---- of the loop
    bool asks_to_stop() const { return asking_ || interrupted(); }
    bool asks_to_save() const { return asks_to_save_; }
    const char* asked_why() const { return asked_why_.empty() ? "asked to stop" : asked_why_.c_str(); }
    void have_asked_to_save() { asks_to_save_ = false; }
    /// option_error where a hook needs a value that no hook measures; `any`: one may measure what it has not said.
    SINTER_COLD void check_needs(bool any) const {
        for (const need& n : needed_) {
            bool found = any;
            std::string names;
            for (const std::string& m : measured_) {
                found = found || m == n.name;
                names += m + ", ";
            }
            if (!found)
                throw option_error("no hook measures what is watched", to_text({n.hook, ", before training"}), n.name,
                                   to_text({"one of ", names, "or ", what_measures_}));
        }
    }

private:
    bool stopping_ = false, asking_ = false, asks_to_save_ = false, unmeasured_ = false;
    bool (*interrupted_)() = nullptr;
    std::string why_, asked_why_;
    struct need {
        std::string name;
        const char* hook;
    };
    std::vector<std::string> measured_;
    std::vector<need> needed_;
    std::string what_measures_ = "validation data (train_options::validation) and a metric of this name, whose name "
                                 "begins with val_; accuracies are of class numbers";
};

} // namespace sinter
