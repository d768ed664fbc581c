// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <sinter/base/cluster_error.hpp>
#include <sinter/collective/communicator.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// Who the members of a job, or of a group within it, are, and whether it goes well: what engines of
/// one job have in common. Any thread may ask.
class membership {
public:
    virtual ~membership() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// A member's rank in the whole job, which errors name.
    virtual int job_rank(int r) const { return r; }
    /// Throws the first error, if there is one.
    virtual void check() = 0;
    /// Ends all waiting of all members with this error; the first one wins.
    virtual void fail(const cluster_error&) noexcept = 0;
    /// Role and address of a member, for errors.
    virtual std::string role(int rank) const = 0;
    virtual std::string address(int) const { return {}; }
    /// Whether a thread that waits has a core of its own to spin on for a while.
    virtual bool may_spin() const { return false; }
    virtual void progress(std::int64_t, const char*) {}
    /// `waited`: seconds for which the thread that trains has waited for operations, in all.
    virtual void report(std::int64_t step, double loss, double waited) { (void)step, (void)loss, (void)waited; }
    virtual void ask_all_to_stop(const char*) {}
    virtual bool asked_to_stop() const { return false; }
    /// The greatest number of a group within the job that this process knows of; 0: the job itself.
    virtual std::uint32_t& last_group() { return last_group_; }

private:
    std::uint32_t last_group_ = 0;
};

/// Some members of a communicator, who are to have one of their own.
struct group_of_members {
    std::vector<int> ranks;     ///< in the communicator, by rank in the group; empty: this member is in none
    int rank = 0;               ///< of this one
    std::uint32_t number = 0;   ///< of the group: no member is in two of the same number
};

/// Carries out one operation after the other: what is beneath a queued_communicator.
class engine {
public:
    virtual ~engine() = default;
    /// Returns when this member's result is there. One thread at a time, in the order of `number`
    /// (0, 1, 2...). Throws cluster_error, and ends early when the membership fails.
    virtual void perform(const operation&, std::int64_t number, void* data, std::int64_t n) = 0;
    /// Whether any thread may call perform(); else only those that wait.
    virtual bool on_any_thread() const { return true; }
    virtual bool reads_device_memory() const { return false; }   ///< as communicator has it
    /// An engine for the members of a group, `these`; null where this member is in none. All members of `all`, whose
    /// engine this is, call it at the same time, with their own groups; they may exchange what they need over `all`.
    virtual std::unique_ptr<engine> split(communicator& all, const group_of_members&,
                                          const std::shared_ptr<membership>& these) {
        (void)all, (void)these;
        throw device_error("this communicator has none of them", "groups of some members");
    }
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
