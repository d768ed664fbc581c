// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/collective/communicator.hpp>

namespace sinter::inline SINTER_TARGET::collective {

/// Carries out one operation after the other: what is beneath a queued_communicator.
class engine {
public:
    virtual ~engine() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Returns when this member's result is there. One thread at a time, in the order of `number`
    /// (0, 1, 2...). Throws cluster_error.
    virtual void perform(const operation&, std::int64_t number, void* data, std::int64_t n) = 0;
    /// Throws the first error, if there is one. Any thread.
    virtual void check() = 0;
    /// Ends all waiting in perform(), here and in the other members, with this error; the first one
    /// wins. Any thread.
    virtual void fail(const cluster_error&) noexcept = 0;
    /// An error that this member is the cause of.
    virtual cluster_error own_error(const operation&, std::string_view cause) const = 0;
    /// Whether a thread that waits has a core of its own to spin on for a while.
    virtual bool may_spin() const { return false; }
    virtual void progress(std::int64_t, const char*) {}
    virtual void ask_all_to_stop(const char*) {}
    virtual bool asked_to_stop() const { return false; }
};

}   // namespace sinter::inline SINTER_TARGET::collective
