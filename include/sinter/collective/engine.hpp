// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/collective/communicator.hpp>

namespace sinter::inline SINTER_TARGET::collective {

/// Who the members of a job are, and whether it goes well: what engines of one job have in common.
/// Any thread may ask.
class membership {
public:
    virtual ~membership() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
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
};

}   // namespace sinter::inline SINTER_TARGET::collective
