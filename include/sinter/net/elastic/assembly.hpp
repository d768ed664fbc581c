// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/to_text.hpp>
#include <sinter/net/elastic/assembly_message.hpp>
#include <sinter/net/elastic/linked.hpp>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace sinter::inline SINTER_ORDINARY::wire {

/// How the processes of an elastic job agree on who is in it: what one of them knows, and what it answers and sends. No
/// sockets, threads or clocks: messages and the time are given to it.
///
/// Each list of members is followed by one at most. Which one is agreed by Paxos's single decree (Lamport 1998): the
/// members of the old list are the acceptors, and what so many have accepted as may decide (member_list::may_decide)
/// holds. An acceptor's memory dies with its process, and a process that is started again is no member of the old list.
/// So of a job that is cut apart one part at most goes on. The first that is alive proposes those that are alive and
/// have come, and adds waiting processes once every member has reached a join point. Each sends whom it reaches: of two
/// that are alive and do not reach each other one is left out, and who waits is added once it reaches all.
class assembly {
public:
    struct settings {
        int slots = 1;            ///< tasks of the roster that train
        int most = 1;             ///< members at once; other tasks wait until they are needed
        double dead_after = 5;
        double stuck_after = 300; ///< a member that lives and does not come for so long is left out
        double join_within = 60;
        identity same{};          ///< what all members must share
    };
    using send = std::function<void(int slot, const assembly_message&)>;

    /// `random` gives numbers that nobody can foresee.
    assembly(settings s, int slot, std::function<std::uint64_t()> random, double now)
        : with_(s), random_(std::move(random)), peers_(static_cast<std::size_t>(s.slots)), began_(now) {
        self_ = {slot, random_() | 1, progress_of(0, false)};
        nonce_ = last_nonce_ = random_();
    }

    const member_entry& self() const { return self_; }
    const member_list& list() const { return list_; }
    assembly_state state() const { return state_; }
    std::uint64_t run() const { return run_; }

    /// Whether all tasks are there and none is in a job that runs: the first `most` of them may
    /// begin.
    SINTER_COLD bool all_are_new(double now) const {
        if (!is_new(state_) || self_.slot >= with_.most) return false;
        for (int s = 0; s < with_.slots; ++s)
            if (s != self_.slot &&
                (peer(s).last_reply < 0 || now - peer(s).last_reply > with_.dead_after || !is_new(peer(s).state)))
                return false;
        return true;
    }
    /// Who has not answered.
    SINTER_COLD std::vector<int> missing() const {
        std::vector<int> all;
        for (int s = 0; s < with_.slots; ++s)
            if (s != self_.slot && peer(s).last_reply < 0) all.push_back(s);
        return all;
    }
    /// The first list, which all of them are in.
    SINTER_COLD void begin(member_list first) {
        run_ = 1;
        for (const member_entry& s : first.entries) run_ = (run_ ^ s.incarnation) * 0x9e3779b97f4a7c15u;
        list_ = std::move(first);
        fault_.clear();
        self_.progress = progress_of(0, true);
        state_ = assembly_state::running;
    }
    /// This member wants the list that follows `list()`. `suspect`: a slot that is probably dead;
    /// `lost`: one that this process has tried in vain to connect with. A fault where it has ended.
    SINTER_COLD void regroup(std::int64_t done, bool healed, bool admits, int suspect, double now, int lost = -1) {
        if (state_ == assembly_state::ended) {   // the others may be an operation further without it
            fault_ = "this process has left the job";
            return;
        }
        self_.progress = progress_of(done, healed);
        if (state_ == assembly_state::regrouping) return;
        state_ = assembly_state::regrouping;
        admits_ = admits;
        suspect_ = suspect;
        lost_ = lost;
        all_came_ = -1;
        base_ = list_.epoch;
        began_ = now;
        quorum_lost_ = -1;
        fault_.clear();
        ballot_ = 0;
        for (peer_state& p : peers_) p.last_reply = -1, p.reaches.clear(), p.lost = -1;
    }
    /// Back to work in the present list.
    void resume() { state_ = assembly_state::running; }
    void end() { state_ = assembly_state::ended; }
    /// To all who may wait for this one.
    SINTER_COLD void send_end(const send& out) const {
        for (int s = 0; s < with_.slots; ++s)
            if (s != self_.slot) out(s, about(assembly_kind::status));
    }
    /// Why this process cannot go on; empty: it can.
    const std::string& fault() const { return fault_; }
    /// What has happened since the last call and may be reported: by whom.
    struct event {
        int slot;
        std::string text;
    };
    std::vector<event> take_events() { return std::exchange(events_, {}); }
    /// Some process waits to join, and there is a place for it.
    bool somebody_waits(double now) const { return waiting(now, true).slot >= 0; }
    /// The first process that waits, where there is a place for it: that may join already, or that
    /// is to be given the model's state before. Slot -1: there is none.
    SINTER_COLD member_entry waiting(double now, bool may_join) const {
        if (static_cast<int>(list_.entries.size()) < with_.most)
            for (int s = 0; s < with_.slots; ++s)
                if (waits(s, now) && peer(s).admits == may_join && reaches_all(s, list_))
                    return {s, peer(s).incarnation, peer(s).progress};
        return {};
    }
    /// Of a process that waits: whether it may be taken in already.
    void may_join(bool may) { admits_ = may; }

    SINTER_COLD void receive(const assembly_message& m, double now, const send& out) {
        const int s = m.from.slot;
        if (s < 0 || s >= with_.slots || s == self_.slot || !makes_sense(m)) return;
        if (m.state == assembly_state::stays) {
            out(s, about(assembly_kind::status));   // from which it learns that this job is elastic
            if (is_new(state_) && fault_.empty())
                fault_ = to_text({"members' strategies differ: task ", s,
                                 " trains without elastic(...), and this process with it"});
            return;
        }
        if (run_ && m.run && m.run != run_) return;   // of another run of this job
        peer_state& p = peers_[static_cast<std::size_t>(s)];
        const bool answers = m.kind == assembly_kind::status && (m.nonce == nonce_ || m.nonce == last_nonce_);
        if (m.same != with_.same && (is_new(m.state) != is_new(state_) || !is_new(state_)))
            return differ(m, p, answers, out);
        const bool first = answers && p.last_reply < 0 && state_ == assembly_state::regrouping;
        // Its last message.
        const bool ends = m.state == assembly_state::ended && m.from.incarnation == p.incarnation;
        if (answers || ends || p.last_reply < 0 || state_ == assembly_state::running) {
            p.incarnation = m.from.incarnation, p.state = m.state, p.last_status = now;
            p.progress = m.from.progress, p.epoch = m.epoch, p.admits = m.admits;
        }
        if (answers) p.last_reply = now;
        if (m.state == assembly_state::waiting && p.state == m.state) p.reaches = m.answered;
        else if (m.state == assembly_state::regrouping && m.epoch == list_.epoch) {
            if (m.answered.size() > p.reaches.size()) p.reaches = m.answered;
            p.lost = m.lost;
        }
        if (first)   // who decides waits to know of it
            for (const member_entry& x : list_.entries)
                if (x.slot < self_.slot && x.slot != s && peer(x.slot).last_reply >= 0) {
                    probe(x.slot, now, out);
                    break;
                }
        switch (m.kind) {
            case assembly_kind::probe:
                out(s, about(assembly_kind::status, m.nonce));
                if (const member_entry* x = entry_at(s);
                    x && state_ == assembly_state::regrouping && m.state == state_ &&
                                                !has_come(*x) && now - p.last_probe > 0.005)   // it has just come
                    probe(s, now, out);
                if (ballot_ == 0 && state_ == assembly_state::regrouping && now - ticked_ < 0.1) decide(now, out);
                return;
            case assembly_kind::status:
                learn(m);
                // Where this process is late itself, others' answers may still be unread: tick()
                // decides after them.
                if (answers && ballot_ == 0 && state_ == assembly_state::regrouping && now - ticked_ < 0.1)
                    decide(now, out);
                return;
            case assembly_kind::prepare:
            case assembly_kind::accept: return answer(m, out);
            case assembly_kind::promise:
            case assembly_kind::accepted: return count(m, now, out);
            case assembly_kind::refuse:
                if (ballot_ && m.epoch == base_ && m.ballot > ballot_) {
                    round_ = m.ballot / ballots_of_a_round;
                    ballot_ = 0;
                    retry_at_ = now + 0.02 + 0.001 * static_cast<double>(random_() % 100);
                }
                return;
        }
    }
    /// To be called once after regroup(), and some twenty times a second while this process is not
    /// `running`, each time after what has come meanwhile.
    SINTER_COLD void tick(double now, const send& out) {
        ticked_ = now;
        if (state_ == assembly_state::running || state_ == assembly_state::ended) return;
        if (now - nonce_at_ > 0.5) last_nonce_ = nonce_, nonce_ = random_(), nonce_at_ = now;
        const bool all = state_ != assembly_state::regrouping;
        for (int s = 0; s < with_.slots; ++s)
            if (s != self_.slot && (all || entry_at(s) || waits(s, now))) probe(s, now, out);
        if (state_ == assembly_state::fresh) return try_to_begin(now);
        if (state_ == assembly_state::waiting) return wait_to_join(now);
        decide(now, out);
    }

private:
    struct peer_state {
        std::uint64_t incarnation = 0;
        assembly_state state = assembly_state::fresh;
        std::int64_t progress = 0, epoch = 0;
        bool admits = false;
        std::vector<std::int32_t> reaches{};   ///< as it sent: see assembly_message::answered
        int lost = -1;
        std::uint64_t refused = 0;   ///< its life, where it was notified that it cannot join
        double last_reply = -1;    ///< when it answered a probe last; -1: it has not, since this process regroups
        double last_status = -1;   ///< when its last status was received
        double last_probe = -1;    ///< when it was sent a probe last
    };
    struct acceptor {
        std::int64_t promised = 0, accepted = 0;
        member_list list;
    };
    static constexpr std::int64_t ballots_of_a_round = 1 << 20;   // more than there are slots

    settings with_;
    std::function<std::uint64_t()> random_;
    std::vector<peer_state> peers_;
    double began_;
    member_entry self_;
    assembly_state state_ = assembly_state::fresh;
    member_list list_;
    std::uint64_t run_ = 0, nonce_ = 0, last_nonce_ = 0;
    double nonce_at_ = 0, ticked_ = 0;
    std::string fault_;
    std::vector<event> events_;
    std::map<std::int64_t, acceptor> acceptors_;   // by the epoch that is to be replaced
    // Of regrouping:
    std::int64_t base_ = 0;
    int suspect_ = -1, lost_ = -1;
    double all_came_ = -1;   // since when all that live are here
    bool admits_ = true;
    double quorum_lost_ = -1;
    // Of a proposal:
    std::int64_t round_ = 0, ballot_ = 0, best_before_ = 0;
    member_list proposal_;
    bool accepting_ = false;
    std::vector<char> agreed_;   // by place in list_
    double proposed_at_ = 0, retry_at_ = 0;

    /// Slots that there are, in their order, and numbers that can still grow.
    SINTER_COLD bool makes_sense(const assembly_message& m) const {
        int last = -1;
        for (const member_entry& x : m.list.entries)
            if (x.slot <= std::exchange(last, x.slot) || x.slot >= with_.slots) return false;
        constexpr std::int64_t most = std::int64_t{1} << 60;
        for (const std::int64_t n : {m.epoch, m.ballot, m.before, m.list.epoch, m.from.progress})
            if (n < 0 || n > most) return false;
        return true;
    }
    static bool is_new(assembly_state s) { return s == assembly_state::fresh || s == assembly_state::waiting; }
    const peer_state& peer(int s) const { return peers_[static_cast<std::size_t>(s)]; }
    SINTER_COLD const member_entry* entry_at(int slot) const {
        for (const member_entry& s : list_.entries)
            if (s.slot == slot) return &s;
        return nullptr;
    }
    SINTER_COLD bool waits(int s, double now) const {
        return peer(s).state == assembly_state::waiting && now - peer(s).last_status < with_.dead_after &&
               peer(s).last_status >= 0;
    }
    SINTER_COLD assembly_message about(assembly_kind k, std::uint64_t nonce = 0) const {
        assembly_message m{.kind = k, .from = self_, .state = state_, .admits = admits_, .nonce = nonce, .run = run_,
                           .epoch = list_.epoch, .list = list_, .same = with_.same};
        for (int s = 0; s < with_.slots; ++s)
            if (peer(s).last_reply >= 0 && s != lost_ &&
                (state_ == assembly_state::regrouping || ticked_ - peer(s).last_reply < with_.dead_after))
                m.answered.push_back(s);
        m.lost = lost_;
        return m;
    }
    SINTER_COLD static bool is_in(int slot, const std::vector<std::int32_t>& slots) {
        return std::find(slots.begin(), slots.end(), slot) != slots.end();
    }
    SINTER_COLD bool reaches_all(int s, const member_list& l) const {
        for (const member_entry& x : l.entries)
            if (x.slot != s && !is_in(x.slot, peer(s).reaches)) return false;
        return true;
    }
    /// Whether two members reach each other, as far as this one knows.
    SINTER_COLD bool are_linked(int a, int b) const {
        const auto reaches = [&](int from, int to) {
            return from == self_.slot ? peer(to).last_reply >= 0 && to != lost_ : is_in(to, peer(from).reaches);
        };
        const auto lost = [&](int s) { return s == self_.slot ? lost_ : peer(s).lost; };
        return lost(a) != b && lost(b) != a && (reaches(a, b) || reaches(b, a));
    }
    /// A process of another program, say: no member will take it in, and it learns why.
    SINTER_COLD void differ(const assembly_message& m, peer_state& p, bool answers, const send& out) {
        if (is_new(state_)) {
            if (answers) fault_ = "this process cannot join the job: " + difference(with_.same, m.same);
        } else if (m.kind == assembly_kind::probe) {
            out(m.from.slot, about(assembly_kind::status, m.nonce));
            if (std::exchange(p.refused, m.from.incarnation) != m.from.incarnation)
                events_.push_back({m.from.slot, "cannot join: " + difference(with_.same, m.same)});
        }
    }

    SINTER_COLD void probe(int s, double now, const send& out) {
        peers_[static_cast<std::size_t>(s)].last_probe = now;
        out(s, about(assembly_kind::probe, nonce_));
    }

    // ---- before this process is a member
    SINTER_COLD void try_to_begin(double now) {
        bool runs = self_.slot >= with_.most;
        for (int s = 0; s < with_.slots; ++s) {
            if (s == self_.slot) continue;
            const peer_state& p = peer(s);
            runs = runs || (p.last_reply >= 0 && !is_new(p.state));
        }
        if (runs) {
            state_ = assembly_state::waiting;
            began_ = now;
        } else if (now - began_ > with_.join_within && !all_are_new(now)) {
            fault_ = missing().empty() ? "the others are there and have not begun" : "missing";
        }
    }
    SINTER_COLD void wait_to_join(double now) {
        double last = began_;
        bool ended = false;
        for (const peer_state& p : peers_) {
            if (p.state == assembly_state::ended && p.last_reply >= 0) ended = true;
            else if (p.state != assembly_state::waiting) last = std::max(last, p.last_reply);
        }
        if (ended) fault_ = "the job has ended before this process could join it";
        else if (now - last > with_.join_within) fault_ = "no member of the job answers";
    }

    // ---- as a member
    /// What somebody's list says: it may be newer than this process's.
    SINTER_COLD void learn(const assembly_message& m) {
        if (m.list.epoch <= list_.epoch || m.run == 0) return;
        if (state_ == assembly_state::fresh) return;   // it will wait first
        if (m.list.find(self_.slot, self_.incarnation)) return adopt(m.list, m.run);
        if (state_ == assembly_state::regrouping)
            fault_ = to_text({"this process was removed from the job: it is not among the members of epoch ",
                             m.list.epoch});
    }
    SINTER_COLD void adopt(const member_list& l, std::uint64_t run) {
        list_ = l;
        run_ = run;
        ballot_ = 0;
        acceptors_.erase(acceptors_.begin(), acceptors_.lower_bound(l.epoch));
        for (int s = 0; s < with_.slots; ++s) {   // who did not answer, or has come in, does not wait any more
            peer_state& p = peers_[static_cast<std::size_t>(s)];
            if (p.state == assembly_state::waiting && (p.last_reply < 0 || entry_at(s))) p.last_status = -1;
        }
        if (state_ == assembly_state::waiting || state_ == assembly_state::regrouping) state_ = assembly_state::running;
    }
    /// Whether the member in this member_entry has ended, or cannot be reached.
    SINTER_COLD bool is_dead(const member_entry& x, double now) const {
        if (x.slot == self_.slot) return false;
        const peer_state& p = peer(x.slot);
        if (p.last_reply >= 0 && (p.incarnation != x.incarnation || p.state == assembly_state::ended)) return true;
        if (now - began_ > with_.stuck_after && !has_come(x)) return true;
        // Of a suspect a connection was lost, or nothing received for dead_after: some probes more say enough.
        const double limit = x.slot == suspect_ ? std::max(0.25, with_.dead_after / 20) : with_.dead_after;
        return now - std::max(p.last_reply, began_) > limit;
    }
    SINTER_COLD bool has_come(const member_entry& x) const {
        if (x.slot == self_.slot) return true;
        const peer_state& p = peer(x.slot);
        return p.last_reply >= 0 && p.incarnation == x.incarnation && p.state == assembly_state::regrouping &&
               p.epoch == list_.epoch;
    }
    /// What the first of those that live does once all that live have come.
    SINTER_COLD void decide(double now, const send& out) {
        bool all = true, lowest = true;
        for (const member_entry& x : list_.entries) {
            if (is_dead(x, now)) continue;
            if (!has_come(x)) all = false;
            if (x.slot < self_.slot) lowest = false;
        }
        const bool enough = list_.may_decide([&](const member_entry& x) { return !is_dead(x, now); });
        if (enough) quorum_lost_ = -1;
        else if (quorum_lost_ < 0) quorum_lost_ = now;
        if (!enough && now - quorum_lost_ > with_.dead_after) {
            const auto here = std::count_if(list_.entries.begin(), list_.entries.end(),
                                            [&](const member_entry& x) { return !is_dead(x, now); });
            fault_ = to_text({"of ", list_.entries.size(), " members ", here,
                             here == 1 ? " is" : " are", " left or can be reached: not more than half, nor half with "
                             "the chief, so that another part of the job may go on"});
            return;
        }
        if (!all) all_came_ = -1;
        else if (all_came_ < 0) all_came_ = now;
        if (!lowest || !all || !enough || now < retry_at_) return;
        if (ballot_ == 0 && now - all_came_ <= with_.dead_after && !left_out(now).empty()) return;   // no answer yet
        if (admits_ && ballot_ == 0 && now - began_ < 0.5)   // who waits answers first, or is not there any more
            for (int s = 0; s < with_.slots; ++s)
                if (waits(s, now) && peer(s).last_reply < 0) return;
        if (ballot_ == 0 || now - proposed_at_ > 1) propose(now);
        ask(out);
    }
    SINTER_COLD void propose(double now) {
        ballot_ = ++round_ * ballots_of_a_round + self_.slot;
        accepting_ = false;
        best_before_ = 0;
        proposed_at_ = now;
        agreed_.assign(list_.entries.size(), 0);
        proposal_ = {list_.epoch + 1, {}};
        bool place = admits_;
        const std::vector<int> out = left_out(now);
        for (const member_entry& x : list_.entries) {
            if (is_dead(x, now) || !has_come(x) || is_in(x.slot, out)) continue;
            const std::int64_t p = x.slot == self_.slot ? self_.progress : peer(x.slot).progress;
            proposal_.entries.push_back({x.slot, x.incarnation, p});
            if (x.slot != self_.slot)
                place = place && peer(x.slot).admits && done_of(p) == done_of(self_.progress);
        }
        std::vector<member_entry>& in = proposal_.entries;
        const auto has = [&](int s) {
            return std::any_of(in.begin(), in.end(), [&](const member_entry& x) { return x.slot == s; });
        };
        for (int s = 0; s < with_.slots && place && static_cast<int>(in.size()) < with_.most; ++s)
            if (s != self_.slot && waits(s, now) && peer(s).admits && peer(s).last_reply >= 0 &&
                now - peer(s).last_reply < 0.5 && !has(s) && reaches_all(s, proposal_))
                in.push_back({s, peer(s).incarnation, progress_of(done_of(self_.progress), false)});
        std::sort(in.begin(), in.end(), [](const member_entry& a, const member_entry& b) { return a.slot < b.slot; });
    }
    /// Members that live and have come, and are to go for the others to reach each other. Nobody, where those that were
    /// left could not decide.
    SINTER_COLD std::vector<int> left_out(double now) const {
        std::vector<int> here, out;
        for (const member_entry& x : list_.entries)
            if (!is_dead(x, now) && has_come(x)) here.push_back(x.slot);
        for (const std::size_t i : not_linked(here.size(), [&](std::size_t a, std::size_t b) {
                 return are_linked(here[a], here[b]);
             }))
            out.push_back(here[i]);
        const bool may =
            list_.may_decide([&](const member_entry& x) { return is_in(x.slot, here) && !is_in(x.slot, out); });
        if (!may) out.clear();
        return out;
    }
    /// Asks those that have not agreed yet; this process itself is one of them.
    SINTER_COLD void ask(const send& out) {
        assembly_message m = about(accepting_ ? assembly_kind::accept : assembly_kind::prepare);
        m.ballot = ballot_;
        m.epoch = list_.epoch;
        m.list = proposal_;
        for (std::size_t i = 0; i < list_.entries.size() && ballot_; ++i)
            if (!agreed_[i] && list_.entries[i].slot != self_.slot) out(list_.entries[i].slot, m);
        answer(m, [&](int, const assembly_message& own) { count(own, proposed_at_, out); });
    }
    /// As an acceptor.
    SINTER_COLD void answer(const assembly_message& m, const send& out) {
        if (m.epoch < list_.epoch || m.ballot <= 0) return out(m.from.slot, about(assembly_kind::status));
        if (acceptors_.size() > 100) acceptors_.erase(std::prev(acceptors_.end()));   // no member is so far ahead
        acceptor& a = acceptors_[m.epoch];
        assembly_message r = about(assembly_kind::refuse);
        r.epoch = m.epoch;
        if (m.ballot < a.promised) {
            r.ballot = a.promised;
        } else if (m.kind == assembly_kind::prepare) {
            a.promised = m.ballot;
            r.kind = assembly_kind::promise;
            r.ballot = m.ballot, r.before = a.accepted, r.list = a.list;
        } else {
            a.promised = a.accepted = m.ballot;
            a.list = m.list;
            r.kind = assembly_kind::accepted;
            r.ballot = m.ballot;
        }
        out(m.from.slot, r);
    }
    /// As the one that proposes.
    SINTER_COLD void count(const assembly_message& m, double now, const send& out) {
        if (ballot_ == 0 || m.ballot != ballot_ || m.epoch != list_.epoch) return;
        if ((m.kind == assembly_kind::accepted) != accepting_) return;
        for (std::size_t i = 0; i < list_.entries.size(); ++i)
            if (list_.entries[i].same(m.from)) agreed_[i] = 1;
        if (m.kind == assembly_kind::promise && m.before > best_before_) best_before_ = m.before, proposal_ = m.list;
        const auto has_agreed = [&](const member_entry& x) {
            return agreed_[static_cast<std::size_t>(&x - list_.entries.data())] != 0;
        };
        if (!list_.may_decide(has_agreed)) return;
        if (!accepting_) {
            accepting_ = true;
            std::fill(agreed_.begin(), agreed_.end(), 0);
            proposed_at_ = now;
            return ask(out);
        }
        const member_list old = list_;
        const bool mine = proposal_.find(self_.slot, self_.incarnation) != nullptr;
        if (!mine) fault_ = "this process was removed from the job by another member";
        adopt(proposal_, run_);
        for (int k = 0; k < 2; ++k)   // datagrams get lost; who has none asks
            for (const member_list* l : {&old, &std::as_const(list_)})
                for (const member_entry& x : l->entries)
                    if (x.slot != self_.slot) out(x.slot, about(assembly_kind::status));
    }
};

} // namespace sinter::wire
