// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/parameter_server/checked_number.hpp>
#include <sinter/parameter_server/update_order.hpp>
#include <algorithm>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Which pushes make which update, and who may read when, where workers push by clocks. Arithmetic
/// alone: no values, no sockets, no threads.
///
/// Worker w's c-th push is of clock c. Clock c is applied when all who are waited for have pushed
/// it (with b backup workers: all of the job but b). Whoever has pushed clocks 0..c-1 may read when
/// clock c - s - 1 is applied, so that at every read the reader is at most s clocks ahead of the
/// slowest who is waited for. A push of a clock that is applied already is late, and used for
/// nothing.
class clocks {
public:
    enum class verdict : std::uint8_t {
        taken,   ///< it is in its clock
        late,    ///< its clock is applied
        ahead    ///< the worker must first wait: see may_push()
    };

    /// All workers are waited for until they retire.
    clocks(const update_order& o, int workers)
        : staleness_(o.staleness), backup_(o.backup), slots_(o.staleness + 1),
          members_(static_cast<std::size_t>(workers)) {
        for (member& m : members_) m.pushed.assign(static_cast<std::size_t>(slots_), -1);
    }

    int workers() const { return static_cast<int>(members_.size()); }
    /// How many clocks are applied: 0 .. applied() - 1.
    std::int64_t applied() const { return applied_; }
    /// The clock of this worker's next push.
    std::int64_t next(int w) const { return at(w).next; }
    /// Goes on from a checkpoint: so many clocks are applied.
    void restore(std::int64_t applied) {
        applied_ = closed_ = applied;
        for (member& m : members_) m.next = applied;
    }
    /// The worker comes, or comes back, and is waited for. `clock`: of its next push, as it thinks.
    void join(int w, std::int64_t clock = 0) {
        at(w).live = true;
        at(w).next = std::max({at(w).next, applied_, clock});
    }
    /// The worker's process is no more, and another makes all that it has pushed.
    void begin_anew(int w) {
        at(w).next = applied_;
        at(w).pushed.assign(static_cast<std::size_t>(slots_), -1);
    }
    /// Another process is the worker from now on. What the one before has pushed counts; that it was further, as it
    /// said when it joined, does not.
    void forget_claim(int w) {
        std::int64_t pushed = applied_;
        for (const std::int64_t clock : at(w).pushed) pushed = std::max(pushed, clock + 1);
        at(w).next = pushed;
    }
    /// The worker rests, has left, or is dead: it is not waited for. What it pushed counts.
    void retire(int w) { at(w).live = false; }

    /// Whether the worker's push of this clock could be taken, or is late.
    bool may_push(std::int64_t clock) const { return clock - applied_ <= staleness_; }
    /// A push of this worker's is whole. A clock beyond next() leaves out those between, as after a
    /// server's restart.
    verdict push(int w, std::int64_t clock) {
        member& m = at(w);
        if (!may_push(clock)) return verdict::ahead;
        const bool again = clock < m.next;   // a clock that this worker has pushed already or passed
        m.next = std::max({m.next, clock + 1, applied_});
        if (clock < closed_ || again) return verdict::late;
        m.pushed[slot(clock)] = clock;
        return verdict::taken;
    }
    /// Whether the worker may read now: clock next(w) - s - 1 is applied.
    bool may_read(int w) const { return at(w).next - staleness_ <= applied_; }

    /// Whether clock applied() can be applied now. It may have no push at all, where everybody has
    /// passed it without one (as after a server's restart): then nothing is to be updated.
    bool ready() const {
        int live = 0, passed = 0, pushes = 0;
        bool somebody_waits = false;
        for (const member& m : members_) {
            const bool has_passed = m.next > applied_;
            live += m.live;
            passed += m.live && has_passed;
            pushes += in(m);
            somebody_waits |= m.live && !has_passed;
        }
        if (pushes == 0) return passed > 0 && !somebody_waits;
        if (backup_ > 0 && pushes >= workers() - backup_) return true;
        return !somebody_waits || (live == 0 && pushes > 0);
    }
    /// Whether all who are waited for have pushed or passed the clocks before this one.
    bool all_have_passed(std::int64_t clock) const {
        return std::all_of(members_.begin(), members_.end(),
                           [&](const member& m) { return !m.live || m.next >= clock; });
    }
    /// Whether a worker has pushed or passed clock applied().
    bool begun() const {
        return std::any_of(members_.begin(), members_.end(), [&](const member& m) { return m.next > applied_; });
    }
    /// Whether the worker's push is in clock applied().
    bool in_next(int w) const { return in(at(w)); }
    /// Leaves out a push of this clock, which another copy of the shard has found late.
    void pass(int w, std::int64_t clock) { at(w).next = std::max({at(w).next, clock + 1, applied_}); }
    /// Whether the worker's push of this clock waits to be applied.
    bool waits(int w, std::int64_t clock) const { return clock >= applied_ && at(w).pushed[slot(clock)] == clock; }
    /// Whether clock applied() is being applied: a push of it that comes now is late.
    void close(bool closed = true) { closed_ = applied_ + closed; }
    void apply() {
        ++applied_;
        closed_ = applied_;
        for (member& m : members_) m.next = m.live ? m.next : std::max(m.next, applied_);
    }
    /// All of it, in an archive of whole numbers. check() must follow what was read from outside.
    template <class A>
    void serialize(A& a, unsigned) {
        a & applied_ & closed_;
        for (member& m : members_) {
            std::uint8_t live = m.live;
            a & m.next & live & m.pushed;
            m.live = live != 0;
        }
    }
    /// Throws format_error where this is nothing that clocks come to: a clock below 0 or beyond all
    /// bounds; one that is being applied and is not the next; a worker with another number of
    /// pushes; a push that is not of its place's clock, or that its worker has not come to yet, or
    /// that nobody could have made yet.
    void check(const char* where) const {
        check_number(applied_, 0, "no number of clocks", where);
        check_number(closed_, applied_, "no clock that could be being applied", where, applied_ + 1);
        for (const member& m : members_) {
            check_number(m.next, 0, "no clock of a worker's", where);
            check_number(static_cast<std::int64_t>(m.pushed.size()), slots_, "pushes of another staleness", where,
                         slots_);
            for (std::int64_t s = 0; s < slots_; ++s) {
                const std::int64_t clock = m.pushed[static_cast<std::size_t>(s)];
                if (clock == -1) continue;
                check_number(clock, 0, "no clock of a push", where, std::min(m.next - 1, applied_ + staleness_));
                check_number(clock % slots_, s, "a push in another clock's place", where, s);
            }
        }
    }

private:
    struct member {
        std::int64_t next = 0;
        bool live = true;
        std::vector<std::int64_t> pushed;   // by clock modulo slots_: the clock, -1 none
    };
    std::int64_t staleness_;
    int backup_;
    std::int64_t slots_, applied_ = 0;
    std::int64_t closed_ = 0;   ///< clocks before this one take no more pushes
    std::vector<member> members_;

    const member& at(int w) const { return members_.at(static_cast<std::size_t>(w)); }
    member& at(int w) { return members_.at(static_cast<std::size_t>(w)); }
    std::size_t slot(std::int64_t clock) const { return static_cast<std::size_t>(clock % slots_); }
    bool in(const member& m) const { return m.pushed[slot(applied_)] == applied_; }
};

} // namespace sinter::parameter_servers
