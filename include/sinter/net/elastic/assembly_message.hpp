// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cold.hpp>
#include <sinter/net/archive.hpp>
#include <sinter/net/elastic/member_list.hpp>
#include <sinter/net/identity.hpp>

/// What processes of an elastic job say to each other outside of their groups, one datagram each.
namespace sinter::inline SINTER_ORDINARY::wire {

enum class assembly_kind : std::uint8_t { probe = 1, status, prepare, promise, accept, accepted, refuse };

/// What a process is at.
enum class assembly_state : std::uint8_t {
    fresh,       ///< it has not met anybody yet
    waiting,     ///< it wants to join a job that runs
    running,     ///< it is a member
    regrouping,   ///< it is a member and wants a new list of members
    ended,       ///< the job is done
    stays        ///< it is of no elastic job, but of one whose members stay (other_strategy.hpp)
};

/// All messages have all fields: who sends it and what it is at; `list` is the sender's, or what is
/// proposed, accepted or was accepted before.
struct assembly_message {
    assembly_kind kind = assembly_kind::probe;
    member_entry from;
    assembly_state state = assembly_state::fresh;
    bool admits = false;          ///< it waits where a joiner may come in; of one that joins: it may be taken in
    std::uint64_t nonce = 0;      ///< of a probe; comes back with its answer
    std::uint64_t run = 0;        ///< of the job's first list; 0: not known
    std::int64_t epoch = 0;       ///< of the sender's list; of prepare and its like: that is to be replaced
    std::int64_t ballot = 0;      ///< of prepare and its like
    std::int64_t before = 0;      ///< of a promise: in which ballot `list` was accepted; 0: none was
    member_list list;
    identity same{};                     ///< what all members must share
    std::vector<std::int32_t> answered{};   ///< slots that have answered it since it regroups, or lately if it waits
    std::int32_t lost = -1;              ///< a slot that it cannot connect with in spite of that

    template <class A>
    SINTER_COLD void serialize(A& a, unsigned) {
        auto k = static_cast<std::uint8_t>(kind), s = static_cast<std::uint8_t>(state), in = std::uint8_t{admits};
        auto slot = static_cast<std::int32_t>(from.slot);
        std::vector<std::int32_t> slots;
        std::vector<std::uint64_t> lives;
        std::vector<std::int64_t> progress;
        for (const member_entry& x : list.entries)
            slots.push_back(x.slot), lives.push_back(x.incarnation), progress.push_back(x.progress);
        a & k & s & in & slot & from.incarnation & from.progress & nonce & run & epoch & ballot & before & list.epoch;
        a & slots & lives & progress & same.model & same.layout & same.policy & answered & lost;
        if (k < 1 || k > static_cast<std::uint8_t>(assembly_kind::refuse) ||
            s > static_cast<std::uint8_t>(assembly_state::stays) || in > 1 || slots.size() != lives.size() ||
            slots.size() != progress.size())
            throw format_error("fields that fit no message", "a message of an elastic job");
        kind = static_cast<assembly_kind>(k), state = static_cast<assembly_state>(s), admits = in != 0;
        from.slot = slot;
        list.entries.resize(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) list.entries[i] = {slots[i], lives[i], progress[i]};
    }
};

} // namespace sinter::wire
