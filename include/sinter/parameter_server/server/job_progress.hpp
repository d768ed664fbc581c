// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checked_number.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// How far a job has come on a server: updates that are begun and made, whether the chief has opened it, overwrites its
/// values, or has asked all to stop. No sockets, threads or values here.
///
/// Always: as many updates are made as are begun, or fewer; so many of each phase, where losses alternate.
class job_progress {
public:
    explicit job_progress(int phases) : begun_of_(static_cast<std::size_t>(phases)), made_of_(begun_of_) {}

    // ---- Updates
    std::int64_t global_step() const { return made_; }
    std::int64_t begun() const { return begun_; }
    /// Of each phase, how many are made.
    const std::vector<std::int64_t>& phase_steps() const { return made_of_; }
    bool has_phase(int phase) const { return phase >= 0 && static_cast<std::size_t>(phase) < made_of_.size(); }
    /// How many updates of a phase were begun: the number of its next one.
    std::int64_t next_of(int phase) const { return begun_of_[static_cast<std::size_t>(phase)]; }
    void begin_update(int phase) { ++begun_, ++begun_of_[static_cast<std::size_t>(phase)]; }
    /// One that was begun is not made after all.
    void undo_update(int phase) { --begun_, --begun_of_[static_cast<std::size_t>(phase)]; }
    void end_update(int phase) { ++made_, ++made_of_[static_cast<std::size_t>(phase)]; }
    /// So many are made from now on, and begun; of each phase as `of` says, where there are several.
    void set_steps(std::int64_t n, const std::vector<std::int64_t>& of) {
        made_ = begun_ = n;
        ++times_set_;
        if (made_of_.size() == 1) made_of_[0] = n;
        else if (of.size() == made_of_.size()) made_of_ = of;
        else made_of_.assign(made_of_.size(), 0);
        begun_of_ = made_of_;
    }
    /// How often the global step was set.
    std::int64_t times_set() const { return times_set_; }

    // ---- A checkpoint that the server began with
    /// Of this step. It was opened at this clock and step.
    void restored(std::int64_t step, const std::vector<std::int64_t>& phases, std::int64_t version,
                  std::int64_t open_clock, std::int64_t open_step) {
        restored_ = has_values_ = true;
        version_ = version;
        open_clock_ = open_clock, open_step_ = open_step;
        set_steps(step, phases);
        restored_step_ = step;
    }
    bool is_restored() const { return restored_; }
    /// -1: it began with none.
    std::int64_t restored_step() const { return restored_step_; }
    /// Another server has sent a worker so many clocks and updates; here `applied` clocks are. Those that this
    /// server has lost count as updates, so that all servers count alike.
    void steps_elsewhere(std::int64_t clocks, std::int64_t step, std::int64_t applied) {
        if (!restored_ || clocks <= applied || clocks <= clocks_elsewhere_) return;
        clocks_elsewhere_ = clocks, step_elsewhere_ = step;
    }
    /// A clock was applied that nobody has pushed: now `applied` are.
    void count_lost_clock(std::int64_t applied) {
        if (!restored_ || made_of_.size() > 1 || applied > clocks_elsewhere_) return;
        ++made_, ++begun_, ++made_of_[0], ++begun_of_[0];
        if (applied == clocks_elsewhere_ && step_elsewhere_ >= restored_step_)
            made_ = begun_ = made_of_[0] = begun_of_[0] = step_elsewhere_;
    }

    // ---- The job is opened
    bool is_open() const { return open_; }
    bool has_values() const { return has_values_; }
    std::int64_t open_clock() const { return open_clock_; }
    std::int64_t open_step() const { return open_step_; }
    /// The incarnation of the chief that has opened it; 0: none is known.
    std::uint64_t opened_by() const { return opened_by_; }
    /// By this process of the chief, in its opening of this number: of one that is asked for once more it is known.
    void open(std::uint64_t chief, std::uint64_t number) {
        open_ = has_values_ = true;
        was_opened_by(chief, number);
    }
    bool knows_opening(std::uint64_t chief, std::uint64_t number) const {
        return opened_by_ == chief && openings_ == number;
    }
    /// The job that was saved goes on, as a worker of it says.
    void goes_on() { open_ = true; }
    void opened_at(std::int64_t clock, std::int64_t step) { open_clock_ = clock, open_step_ = step; }
    void was_opened_by(std::uint64_t chief, std::uint64_t number) { opened_by_ = chief, openings_ = number; }

    // ---- The chief overwrites values
    /// How often it has; what was computed from earlier ones is outdated.
    std::int64_t version() const { return version_; }
    bool is_renewing() const { return renewing_; }
    void raise_version(std::int64_t to) { version_ = std::max(version_, to); }
    void begin_renewal() {
        renewing_ = true;
        replaced_ = replaced_ || (restored_ && !open_);
    }
    /// All of them are of this step now.
    void end_renewal(std::int64_t step) {
        renewing_ = false;
        made_ = begun_ = step;
        ++times_set_;
    }
    /// Whether what was restored has been overwritten before the job was opened; it is asked once.
    bool take_replaced() { return std::exchange(replaced_, false); }

    // ---- The end
    /// Whether all have been asked to stop.
    bool asked_to_stop() const { return asked_; }
    void ask_to_stop() { asked_ = true; }
    /// Why, as the first who asks says.
    void ask_to_stop(std::string reason) {
        if (stop_reason_.empty()) stop_reason_ = std::move(reason);
        asked_ = true;
    }
    void go_on() { asked_ = false; }
    const std::string& stop_reason() const { return stop_reason_; }
    /// This process, or the one that keeps the second copy, was asked to end. True: for the first time.
    bool end_soon() { return !std::exchange(ends_soon_, true); }
    bool ends_soon() const { return ends_soon_; }
    /// Clocks that server 0 has applied, as who rests or leaves says: this server applies as many before it ends.
    std::int64_t end_clock() const { return end_clock_; }
    void note_clocks(std::int64_t n) { end_clock_ = std::max(end_clock_, n); }

    // ---- For the second copy of the shard
    /// Steps as they are begun, or as they are made: what is being applied is sent beforehand where each push is an
    /// update, and afterwards by clocks.
    template <class A>
    void write_steps(A& a, bool begun) const {
        a & (begun ? begun_ : made_) & (begun ? begun_of_ : made_of_);
    }
    /// Throws format_error for another number of phases.
    template <class A>
    void read_steps(A& a, const char* where) {
        std::int64_t steps = 0;
        std::vector<std::int64_t> phases;
        a & steps & phases;
        const std::int64_t n = std::ssize(made_of_);
        check_number(std::ssize(phases), n, "another number of losses", where, n);
        made_ = begun_ = steps;
        made_of_ = begun_of_ = phases;
    }
    /// All else, in an archive: serialize(), what others say, and serialize_flags() with one of others'. check() must
    /// follow what was read.
    template <class A>
    void serialize(A& a) {
        a & open_clock_ & open_step_ & opened_by_ & openings_ & stop_reason_ & version_;
    }
    template <class A>
    void serialize_flags(A& a, bool& any_left) {
        a & end_clock_;
        for (bool* const flag : {&open_, &has_values_, &asked_, &any_left, &renewing_}) {
            auto f = static_cast<std::uint8_t>(*flag);
            a & f;
            *flag = f != 0;
        }
    }
    /// Throws format_error where no job comes to this.
    void check(const char* where) const {
        for (const std::int64_t n : {open_clock_, end_clock_}) check_number(n, 0, "no number of clocks", where);
        for (const std::int64_t n : {made_, open_step_}) check_number(n, 0, "no global step", where);
        check_number(version_, 0, "no number of overwritings", where);
        for (const std::int64_t n : made_of_) check_number(n, 0, "no number of updates of a loss", where);
    }

private:
    std::int64_t begun_ = 0, made_ = 0, times_set_ = 0;
    std::vector<std::int64_t> begun_of_, made_of_;   ///< of each phase
    bool restored_ = false, has_values_ = false, replaced_ = false;
    std::int64_t restored_step_ = -1;
    std::int64_t clocks_elsewhere_ = 0, step_elsewhere_ = 0;   ///< when this server came back
    bool open_ = false;
    std::int64_t open_clock_ = 0, open_step_ = 0;
    std::uint64_t opened_by_ = 0, openings_ = 0;
    std::int64_t version_ = 0;
    bool renewing_ = false, asked_ = false, ends_soon_ = false;
    std::string stop_reason_;
    std::int64_t end_clock_ = 0;
};

} // namespace sinter::parameter_servers
