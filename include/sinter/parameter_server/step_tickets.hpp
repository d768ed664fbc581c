// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/update_order.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Who may begin a step, so that a job makes as many as it should and no more. Asynchronously each
/// push is a global step: a worker holds a ticket from the step's beginning to its push. By clocks
/// all that work on one clock make one global step together. No sockets here.
class step_tickets {
public:
    enum class answer : std::uint8_t {
        yes,
        not_yet,   ///< others are at the last steps, and may fail
        no         ///< max_steps is reached
    };
    step_tickets(update_mode mode, int workers) : mode_(mode), held_(static_cast<std::size_t>(workers)) {}

    /// 0: no limit.
    void limit(std::int64_t max_steps) { most_ = max_steps; }
    std::int64_t limit() const { return most_; }
    /// For a step of worker w, at `clock`; `done` global steps are made, and `applied` clocks
    /// applied. A worker that holds a ticket keeps it.
    answer ask(int w, std::int64_t done, std::int64_t clock = 0, std::int64_t applied = 0) {
        if (most_ <= 0) return answer::yes;
        if (done >= most_) return answer::no;
        if (mode_ == update_mode::clocks)
            return done + (clock - applied) < most_ ? answer::yes : answer::not_yet;
        char& mine = held_.at(static_cast<std::size_t>(w));
        if (mine == 0 && done + out() >= most_) return answer::not_yet;
        mine = 1;
        return answer::yes;
    }
    /// The step is pushed, given up, or its worker is gone.
    void give_back(int w) { held_.at(static_cast<std::size_t>(w)) = 0; }
    template <class A>
    void serialize(A& a, unsigned) {
        a & most_ & held_;
    }
    /// Of so many workers. Throws format_error where these are no tickets.
    void check(std::size_t workers, const char* where) const {
        check_number(most_, 0, "no number of steps to make", where, INT64_MAX);
        const auto n = static_cast<std::int64_t>(workers);
        check_number(static_cast<std::int64_t>(held_.size()), n, "tickets of another number of workers", where, n);
        for (const char c : held_) check_number(c, 0, "neither a ticket nor none", where, 1);
    }
    /// Tickets that are held.
    std::int64_t out() const { return std::count(held_.begin(), held_.end(), 1); }

private:
    update_mode mode_;
    std::int64_t most_ = 0;
    std::vector<char> held_;
};

} // namespace sinter::parameter_servers
