// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checked_number.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// After which clock all workers stop or save, and after which one all servers do. Server 0
/// decides: after the first clock that no worker may have begun. The permission to begin that
/// clock carries the decision, so that all know it before they begin that clock's step, however
/// far apart they are. No sockets here.
class agreed_clocks {
public:
    static constexpr std::size_t most_files_clocks = 1 << 12;
    /// `ahead`: how many clocks later than that which it has leave for a worker may begin, since it
    /// has learned meanwhile that another server is so far (backup workers).
    explicit agreed_clocks(int ahead = 0) : ahead_(ahead) {}
    /// A worker has leave to begin this clock, or has pushed it.
    void give(std::int64_t clock) { given_ = std::max(given_, clock); }

    /// Nobody begins stop_clock() or a later one; -1: no end has been agreed on.
    std::int64_t stop_clock() const { return stop_; }
    bool stops(std::int64_t clock) const { return stop_ >= 0 && clock >= stop_; }
    /// What a worker has received from a process of server 0 that is no more.
    void know(std::int64_t stop, const std::vector<std::int64_t>& files) {
        if (stop_ < 0) stop_ = stop;
        for (const std::int64_t c : files) note_files(c);
    }
    /// One more clock for all. What has been agreed on stays.
    void stop_after_next() { stop_ = stop_ < 0 ? given_ + 2 + ahead_ : stop_; }
    void stop_at_once() { stop_ = 0; }
    void go_on() { stop_ = -1; }

    /// Workers save after clock files_clock() - 1. Not before they have where they agreed on it
    /// last.
    std::int64_t files_clock() const { return files_clock_; }
    void files_after_next(std::int64_t applied) {
        if (files_clock_ <= applied) note_files(std::max(given_ + 2 + ahead_, applied + 1));
    }
    /// All that files_clock() has been, in their order: a worker that was started again makes the same calls.
    const std::vector<std::int64_t>& all_files_clocks() const { return all_files_; }

    /// All servers save once so many clocks are applied, as step save(); 0: nothing has been agreed
    /// on yet.
    std::int64_t save_clock() const { return save_clock_; }
    std::int64_t save() const { return save_; }
    /// `step` is the model's step at clock `applied`, the first that is not applied yet. Not before
    /// the save that was agreed on last is due.
    void save_after_next(std::int64_t step, std::int64_t applied) {
        if (save_clock_ > applied) return;
        save_clock_ = std::max(given_ + 2 + ahead_, applied + 1);
        save_ = std::max({save_ + 1, last_name_ + 1, step + save_clock_ - applied});
    }
    /// Where each push is an update by itself: with the next pushes.
    void save_soon(std::int64_t step) { save_ = std::max(save_ + 1, step); }
    /// Likewise: this save was named before, perhaps by a process of server 0 that is no more. Names
    /// never fall, for servers make those alone that are new to them.
    void save_was_named(std::int64_t step) { save_ = std::max(save_, step); }
    /// By clocks likewise: names that are chosen from now on are later ones.
    void name_later_than(std::int64_t step) { last_name_ = std::max(last_name_, step); }
    /// All that has been agreed on, and whoever has leave.
    template <class A>
    void serialize(A& a, unsigned) {
        a & given_ & stop_ & files_clock_ & save_clock_ & save_ & last_name_;
    }
    /// What has been read in is among all_files_clocks() as well.
    void note_what_was_read() { note_files(files_clock_); }
    /// Throws format_error where these are no clocks.
    void check(const char* where) const {
        check_number(given_, -1, "no clock that a worker could have leave for", where);
        check_number(stop_, -1, "no clock to stop after", where);
        check_number(files_clock_, 0, "no clock to save after", where);
        check_number(save_clock_, 0, "no clock to save after", where);
        check_number(save_, 0, "no step to save as", where);
        check_number(last_name_, 0, "no step to save as", where);
    }

private:
    int ahead_;
    std::int64_t given_ = -1, stop_ = -1, save_clock_ = 0, save_ = 0, files_clock_ = 0, last_name_ = 0;
    std::vector<std::int64_t> all_files_;

    void note_files(std::int64_t clock) {
        if (clock <= 0) return;
        files_clock_ = std::max(files_clock_, clock);
        const auto at = std::lower_bound(all_files_.begin(), all_files_.end(), clock);
        if (at == all_files_.end() || *at != clock) all_files_.insert(at, clock);
        if (all_files_.size() > most_files_clocks) all_files_.erase(all_files_.begin());
    }
};

} // namespace sinter::parameter_servers
