// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/archive.hpp>
#include <sinter/parameter_server/checked_number.hpp>
#include <array>
#include <vector>

/// Shards that two processes keep: shard i is kept by servers i and i + 1. One copy leads: it
/// serves workers, and answers only what the other copy has, too. An epoch is one agreement on who
/// leads and whether the other copy follows. The chief alone ends an epoch in which both take part,
/// and gives the next to one of the two: so there are never two leaders whose answers count. No
/// sockets here.
namespace sinter::inline SINTER_ORDINARY::parameter_servers {

enum class copy_role : std::uint8_t {
    waiting,     ///< has not got what the leader has
    following,   ///< has all that the leader has answered
    leading,
    cut_off      ///< led, and its follower is gone: it answers nothing until the chief lets it lead alone
};

/// What a copy says of itself.
struct copy_note {
    std::uint64_t epoch = 0;   ///< 0: it has never led nor followed
    copy_role role = copy_role::waiting;
    bool followed = false;     ///< it leads, and has a follower
    template <class A>
    void serialize(A& a, unsigned) {
        auto r = static_cast<std::uint8_t>(role), f = static_cast<std::uint8_t>(followed);
        a & epoch & r & f;
        role = static_cast<copy_role>(r), followed = f != 0;
    }
    bool makes_sense() const { return role <= copy_role::cut_off && epoch < UINT64_MAX / 2; }
};

/// What a worker that joins knows of the job from before, which a server that was started again may not know.
struct known_to_worker {
    std::uint64_t sum = 1;             ///< the number of the next sum over workers that it makes
    std::uint8_t opened = 0;           ///< the job is open
    std::int64_t stop_clock = -1;         ///< answer_block
    std::int64_t applied = 0, step = 0;   ///< clocks and updates of another server
    std::vector<std::int64_t> files{};    ///< agreed_clocks::all_files_clocks()
    std::int64_t open_clock = 0, open_step = 0;   ///< clocks applied, and global steps, when the job was opened
    std::uint64_t openings = 0;                   ///< of the chief: how often it has opened the job
    template <class A>
    void serialize(A& a, unsigned) {
        a & sum & opened & stop_clock & applied & step & files & open_clock & open_step & openings;
    }
    /// Throws format_error for what no worker knows.
    void check() const {
        constexpr const char* where = "what a worker that joins knows";
        check_number(static_cast<std::int64_t>(sum), 1, "no number of a sum", where);
        check_number(stop_clock, -1, "no clock to stop after", where);
        for (const std::int64_t n : {applied, open_clock}) check_number(n, 0, "no number of clocks", where);
        for (const std::int64_t n : {step, open_step}) check_number(n, 0, "no global step", where);
        for (const std::int64_t c : files) check_number(c, 1, "no clock to save after", where);
    }
};

/// What a server sends a worker that joins.
struct about_server {
    std::uint8_t has_values = 0;
    std::uint64_t sum = 0;    ///< over workers: the number of the next one
    std::uint64_t begins = 0; ///< the first that a worker makes which has made none
    std::uint64_t lacks = 1;  ///< sums before this one it is to receive from whoever knows them
    std::uint64_t incarnation = 0;   ///< of its process
    std::int64_t restored = -1;   ///< the step of the checkpoint that it began with; -1: it began with none
    std::uint8_t open = 0;    ///< the job runs: has_values is not only of a checkpoint that the server began with
    std::vector<std::int64_t> files{};   ///< agreed_clocks::all_files_clocks()
    copy_note note;
    template <class A>
    void serialize(A& a, unsigned version) {
        a & has_values & sum & begins & lacks & incarnation & restored & open & files;
        note.serialize(a, version);
    }
    void check() const {
        constexpr const char* where = "what a server says of itself";
        for (const std::uint64_t n : {sum, begins, lacks})
            check_number(static_cast<std::int64_t>(n), 0, "no number of a sum", where);
        check_number(restored, -1, "no step of a checkpoint", where);
        for (const std::int64_t c : files) check_number(c, 1, "no clock to save after", where);
    }
};

inline int process_of_copy(int shard, int copy, int servers) { return (shard + copy) % servers; }

/// What the chief knows of one shard's two copies, and decides. It decides about an epoch only if
/// its leader has sent it, and once: what it has decided it says again, and nothing
/// else.
class copy_register {
public:
    /// This copy leads, and what it sent its follower knows, too.
    void leads(int copy, const copy_note& n) {
        met(copy, n);
        if (n.epoch < epoch_) return;
        epoch_ = n.epoch, leader_ = copy, followed_ = n.followed, given_ = false;
        at(1 - copy) = {};   // what it sent before is of another epoch
    }
    /// What a copy answered that does not lead.
    void met(int copy, const copy_note& n) {
        at(copy) = {true, false, n};
    }
    /// The copy's process is not there. `certain`: its host says so; else it only does not answer.
    void missed(int copy, bool certain) {
        at(copy).met = false;
        at(copy).gone = certain;
    }
    /// Whether the copy that was met last is to lead, and from which epoch on; 0: no. `silent`: the
    /// leader has not answered for so long that it is to be replaced.
    std::uint64_t decide(int copy, bool silent) {
        const copy_note& n = at(copy).note;
        if (!at(copy).met || n.role == copy_role::leading) return 0;
        if (epoch_ == 0) {   // the job begins: both are there, and neither has anything
            if (copy != 0 || !fresh(0) || !fresh(1)) return 0;
            return give(0, 1);
        }
        // The next epoch begins by itself when the other copy follows one that leads alone. Whoever is of
        // that epoch shows that it has begun, though the chief has not met its leader since.
        if (!followed_ && n.epoch == epoch_ + 1 &&
            n.role == (copy == leader_ ? copy_role::cut_off : copy_role::following))
            epoch_ = n.epoch, followed_ = true, given_ = false;
        if (given_) return copy == leader_ && n.epoch + 1 == epoch_ ? epoch_ : 0;
        if (copy == leader_) return n.role == copy_role::cut_off && n.epoch >= epoch_ ? give(copy, n.epoch + 1) : 0;
        const seen& leader = at(leader_);
        const bool lost = leader.gone || fresh(leader_) || silent;
        return lost && followed_ && n.role == copy_role::following && n.epoch == epoch_ ? give(copy, epoch_ + 1) : 0;
    }
    /// Whether neither copy can have what the last leader had: both processes were started anew, or
    /// one was while the other has nothing.
    bool lost() const {
        if (epoch_ == 0 || !fresh(leader_) || (given_ && epoch_ == 1)) return false;
        const seen& other = at(1 - leader_);
        if (!other.met || followed_) return other.met && other.note.role == copy_role::waiting;
        return other.note.role != copy_role::following || other.note.epoch != epoch_ + 1;   // decide() says more
    }

private:
    struct seen {
        bool met = false, gone = false;
        copy_note note;
    };
    std::array<seen, 2> seen_;
    std::uint64_t epoch_ = 0;
    int leader_ = 0;
    bool followed_ = false, given_ = false;   // given: by this chief, and is not yet confirmed

    const seen& at(int copy) const { return seen_[static_cast<std::size_t>(copy)]; }
    seen& at(int copy) { return seen_[static_cast<std::size_t>(copy)]; }
    bool fresh(int copy) const { return at(copy).met && at(copy).note.epoch == 0; }
    std::uint64_t give(int copy, std::uint64_t epoch) {
        leader_ = copy, epoch_ = epoch, followed_ = false, given_ = true;
        return epoch;
    }
};

} // namespace sinter::parameter_servers
