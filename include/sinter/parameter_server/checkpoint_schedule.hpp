// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/agreed_clocks.hpp>
#include <sinter/parameter_server/clocks.hpp>
#include <optional>
#include <string>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// What a server knows at the moment at which it asks its schedule.
struct checkpoint_facts {
    double now = 0;                 ///< seconds; 0: what is due by time is not asked for
    std::int64_t global_step = 0;
    bool leads = false;             ///< this copy leads its shard
    bool open = false;              ///< the job is open
    bool has_files = false;         ///< there is a folder for checkpoints
    bool asked_to_stop = false;     ///< all workers have been
    bool at_rest = false;           ///< nobody makes steps, and those that were made are in the values
    bool stopping = false;          ///< the server ends
};

/// A checkpoint that is to be written now.
struct checkpoint_order {
    std::string where;              ///< "step-N", or as the chief's request says
    bool begins_anew = false;       ///< of values that were loaded: what was written before is no part of what follows
    bool by_steps = false;          ///< of exactly the step that `every_steps` names
    // For checkpoint_schedule::ends():
    bool requested = false, agreed = false;
    std::int64_t step = 0, requests = 0, loads = 0;
};

/// When a server writes a checkpoint, and by which name, so that all servers of a job write the same ones: a
/// checkpoint that one of them leaves out is none. Arithmetic alone: no files, no sockets, no threads, no clock.
///
/// What it is due to write, in this order: what the chief has loaded into an open job; what all servers have agreed
/// on (server 0 names it: agree()); what `every_steps` says; the last one, once all have been asked to stop; what
/// `every_seconds` says, where there is one server.
///
/// Always: names of what is agreed on rise, and each is written once. Without clocks each one that was named is
/// written, in their order; by clocks, the newest. A request is answered after a checkpoint that was begun after it.
/// A load is answered after a checkpoint of what it has loaded.
class checkpoint_schedule {
public:
    struct rule {
        bool by_clocks = false;         ///< update_mode::clocks; else each push is an update by itself
        bool alone = true;              ///< the job has one server: there is nobody to agree with
        std::int64_t every_steps = 0;   ///< 0: not by steps
        double every_seconds = 0;       ///< 0: not by time
    };
    /// What to report to the operator once.
    enum class notice : std::uint8_t {
        none,
        no_folder,         ///< other servers write checkpoints, and this one cannot
        this_one_late,     ///< checkpoints are due more often than this server writes them
        another_one_late   ///< or another one
    };

    explicit checkpoint_schedule(const rule& r, double now = 0) : rule_(r), saved_at_(now) {}

    // ---- What is due
    /// N of the checkpoint step-N that is due by itself.
    std::optional<std::int64_t> due(const checkpoint_facts& f) const {
        const std::int64_t every = rule_.every_steps, step = f.global_step;
        if (!f.leads || !f.open || !f.has_files) return {};
        if (loads_saved_ < loads_) return load_step_;   // by its name: other workers may have pushed since
        if (!to_come_.empty()) return to_come_.front();
        if (agreed_ > agreed_saved_) return agreed_;
        if (rule_.by_clocks) {   // exactly when a clock makes the step, on all servers alike
            if (every > 0 && step > 0 && step % every == 0 && step != saved_by_steps_) return step;
        } else if (rule_.alone && every > 0 && step > saved_step_ && step / every > saved_step_ / every) {
            return ends_unsaved(f) ? step : step / every * every;
        }
        if (ends_unsaved(f)) return !rule_.by_clocks && !rule_.alone ? saved_as_ : step;
        const bool in_time = rule_.every_seconds > 0 && rule_.alone && step > saved_step_ &&
                             f.now - saved_at_ >= rule_.every_seconds;
        return in_time ? std::optional(step) : std::nullopt;
    }
    /// What is to be written now, also what the chief has requested. Each that begins() names must come to ends(),
    /// one at a time.
    std::optional<checkpoint_order> begins(const checkpoint_facts& f) {
        const auto step = due(f);
        if (requests_done_ == requests_ && !step) return {};
        checkpoint_order o;
        o.requests = requests_, o.loads = loads_;
        o.begins_anew = loads_saved_ < loads_ && step;
        o.requested = !o.begins_anew && requests_ > requests_done_;
        if (o.requested) {
            o.where = std::exchange(request_where_, {});
            return o;
        }
        o.agreed = !o.begins_anew && (!to_come_.empty() || agreed_ > agreed_saved_);
        o.step = saved_as_ = *step;
        // One by clocks that has the name of a step is that step's.
        o.by_steps = rule_.every_steps > 0 && *step == f.global_step && f.global_step % rule_.every_steps == 0;
        o.where = "step-" + std::to_string(*step);
        return o;
    }
    /// A copy of the values of this step has been made for a checkpoint of this server's own.
    void copied(std::int64_t global_step, double now, bool by_steps) {
        saved_step_ = global_step, saved_at_ = now;
        if (by_steps) saved_by_steps_ = global_step;
    }
    /// It is written; `fault`: why it is not, for whoever has requested it. It is not tried again.
    void ends(const checkpoint_order& o, const std::string& fault) {
        if (o.requested) request_fault_ = fault, requests_done_ = std::max(requests_done_, o.requests);
        if (o.begins_anew) load_fault_ = fault, loads_saved_ = o.loads;
        if (!o.agreed) return;
        agreed_saved_ = std::max(agreed_saved_, o.step);
        std::erase(to_come_, o.step);
    }

    // ---- What somebody asks for
    /// The chief asks for one. Its number, for is_done().
    std::int64_t request(std::string where) {
        request_where_ = std::move(where);
        return ++requests_;
    }
    bool is_done(std::int64_t request) const { return requests_done_ >= request; }
    const std::string& fault_of_request() const { return request_fault_; }

    /// The chief has set the steps of an open job to `step`, as by load(). Its number, for is_saved().
    std::int64_t loaded(std::int64_t step) {
        load_step_ = step;
        return ++loads_;
    }
    bool is_saved(std::int64_t load) const { return loads_saved_ >= load; }
    /// The number of the last one; 0: there was none.
    std::int64_t loads() const { return loads_; }
    const std::string& fault_of_load() const { return load_fault_; }
    /// What was named and is not written would have values of before and of after a load.
    void forget_named() {
        to_come_.clear();
        agreed_saved_ = agreed_;
    }

    // ---- What servers agree on
    /// On server 0: whether all are to save because it is time, or so many steps are made. One that has no others saves
    /// when it likes. Without clocks the next one is named when all have written the last one, so that a server with a
    /// slow disk falls no further behind; or all know of it and nobody makes steps, as at the end.
    notice agree(const checkpoint_facts& f, const clocks& c, agreed_clocks& together) {
        if (!f.has_files || !f.open || rule_.alone || loads_saved_ < loads_) return notice::none;
        const std::int64_t every = rule_.every_steps, step = f.global_step;
        const bool in_time = rule_.every_seconds > 0 && f.now - saved_at_ >= rule_.every_seconds;
        if (rule_.by_clocks) {
            if (!in_time || step <= saved_step_) return notice::none;
            if (!c.all_have_passed(together.save_clock())) return notice::none;   // one may not know of the last
            saved_at_ = f.now;
            together.name_later_than(agreed_);   // it may be a later step's, where some clocks were no updates
            together.save_after_next(step, c.applied());
            return notice::none;
        }
        const bool in_steps = every > 0 && step / every > named_at_ / every,
                   at_end = f.asked_to_stop && f.at_rest && step > std::min(named_at_, together.save());
        if (!(in_time && step > named_at_) && !in_steps && !at_end) return notice::none;
        const bool lags = agreed_saved_ < agreed_;   // this server itself
        if ((f.at_rest ? std::max(all_made_, all_know_) : all_made_) < together.save() || (lags && !f.at_rest)) {
            if (f.at_rest || std::exchange(late_reported_, true)) return notice::none;
            return lags ? notice::this_one_late : notice::another_one_late;
        }
        saved_at_ = f.now;
        named_at_ = step;
        together.save_soon(in_steps && !at_end ? step / every * every : step);
        const notice n = name(together.save(), f.has_files);
        ends_named_ = f.at_rest;
        return n;
    }
    /// By clocks: workers' pushes of a clock say that all save as this step once it is applied.
    void agreed_by_clock(std::int64_t step) { agreed_ = std::max(agreed_, step); }
    /// Without clocks, with each push: the newest name that its worker knows. On server 0 it is the newest that all
    /// others have written; elsewhere one that server 0 has named.
    notice pushed(std::int64_t named, bool has_files) {
        all_made_ = std::max(all_made_, named);
        if (named <= agreed_) return notice::none;
        ends_named_ = false;
        return name(named, has_files);
    }
    /// Likewise, from a worker that rests or leaves: the newest that server 0 has named. Server 0 gets what the others
    /// know of.
    notice progress_known(std::int64_t named, bool has_files) {
        all_know_ = std::max(all_know_, named);
        if (named <= agreed_) return notice::none;
        ends_named_ = true;
        return name(named, has_files);
    }
    /// The newest name that this server knows of.
    std::int64_t newest_named() const { return agreed_; }
    /// The newest name whose checkpoint is written here, which pushes bring to server 0.
    std::int64_t newest_made() const { return agreed_saved_; }

    // ---- Beginnings
    /// The server goes on from a checkpoint of this step, step-`name`; -1: it has no such name.
    void restore(std::int64_t global_step, std::int64_t name) {
        saved_step_ = saved_as_ = saved_by_steps_ = named_at_ = global_step;
        if (name >= 0) saved_as_ = agreed_ = agreed_saved_ = all_made_ = name;
    }
    /// The global step was set, perhaps back.
    void steps_were_set(std::int64_t step) {
        overwritten(step);
        saved_by_steps_ = std::min(saved_by_steps_, step);
        saved_step_ = std::min(saved_step_, step);
    }
    /// The chief has overwritten values, which are of this step now.
    void overwritten(std::int64_t step) { named_at_ = std::min(named_at_, step); }

    // ---- For the second copy of the shard
    /// All but whether the last one is named, in an archive; serialize_end() has that. check() must follow what was
    /// read from outside.
    template <class A>
    void serialize(A& a) {
        a & agreed_ & agreed_saved_ & saved_step_ & saved_as_ & to_come_ & all_made_ & all_know_;
        a & saved_by_steps_ & named_at_;
    }
    template <class A>
    void serialize_end(A& a) {
        auto named = static_cast<std::uint8_t>(ends_named_);
        a & named;
        ends_named_ = named != 0;
    }
    /// Throws format_error where no schedule comes to this.
    void check(const char* where) const {
        const auto need = [&](const char* what, std::int64_t n, std::int64_t least = 0) {
            check_number(n, least, what, where);
        };
        for (const std::int64_t n : {saved_step_, saved_by_steps_, named_at_}) need("no global step", n);
        for (const std::int64_t n : {agreed_, agreed_saved_, all_made_, all_know_}) need("no step to save as", n);
        need("no step to save as", saved_as_, -1);
        check_number(static_cast<std::int64_t>(to_come_.size()), 0, "saves to make", where, 1 << 16);
        std::int64_t before = agreed_saved_;   // each has a later name than the one before it
        for (const std::int64_t n : to_come_)
            check_number(n, before + 1, "no step to save as after the one before", where, agreed_), before = n;
    }

private:
    rule rule_;
    // What all servers save as:
    std::int64_t agreed_ = 0, agreed_saved_ = 0;    ///< the newest name; the newest that is written here
    std::vector<std::int64_t> to_come_;             ///< without clocks: named, and not written yet; they rise
    std::int64_t all_made_ = 0, all_know_ = 0;      ///< on server 0: what all others have written; know of
    std::int64_t named_at_ = 0;                     ///< likewise: the global step when it named one last
    bool ends_named_ = false;                       ///< the newest was named when nobody made steps any more
    bool late_reported_ = false;                        ///< a notice was given
    // What this server has written:
    std::int64_t saved_step_ = 0, saved_as_ = -1;   ///< the step of the last one's values; N of its name
    std::int64_t saved_by_steps_ = 0;               ///< the step of the last that was due by steps
    double saved_at_;
    // What the chief asks for, counted:
    std::int64_t requests_ = 0, requests_done_ = 0;
    std::int64_t loads_ = 0, loads_saved_ = 0, load_step_ = 0;
    std::string request_where_, request_fault_, load_fault_;

    /// Each is written, in their order.
    notice name(std::int64_t step, bool has_files) {
        agreed_ = step;
        to_come_.push_back(step);
        return has_files || std::exchange(late_reported_, true) ? notice::none : notice::no_folder;
    }
    /// Whether all have been asked to stop, and have, and the last checkpoint is none of that step. All servers write
    /// it, whatever they have saved before. Where each push is an update by itself they may be at different steps: then
    /// server 0 names it (agree()), and whoever has written it before its last push came writes it again.
    bool ends_unsaved(const checkpoint_facts& f) const {
        if (!f.asked_to_stop || f.global_step <= 0) return false;
        if (!rule_.by_clocks && !rule_.alone)
            return ends_named_ && f.stopping && saved_as_ == agreed_ && saved_step_ != f.global_step;
        return f.at_rest && (saved_as_ != f.global_step || saved_step_ != f.global_step);
    }
};

} // namespace sinter::parameter_servers
