// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/target_namespace.hpp>
#include <cstdint>
#include <vector>

namespace sinter::inline SINTER_ORDINARY::parameter_servers {

/// Which pushes a server has taken: of each worker, the last one's number. A worker numbers its
/// pushes from 1 and sends one again until it is acknowledged, so each is taken once. A worker
/// that was started again is another incarnation, and counts from 1 anew. No sockets here.
class push_log {
public:
    struct entry {
        std::uint64_t incarnation = 0, last = 0;
        std::uint64_t missing = 0;   ///< numbers that were left out: lost when this server was restored
        template <class A>
        void serialize(A& a, unsigned) { a & incarnation & last & missing; }
    };
    explicit push_log(int workers) : entries_(static_cast<std::size_t>(workers)) {}

    bool has(int w, std::uint64_t incarnation, std::uint64_t number) const {
        const entry& e = at(w);
        return e.incarnation == incarnation && number <= e.last;
    }
    /// Takes a push. False: it was taken before.
    bool take(int w, std::uint64_t incarnation, std::uint64_t number) {
        if (has(w, incarnation, number)) return false;
        entry& e = entries_[static_cast<std::size_t>(w)];
        // One that this log does not know may have pushed to it before a restart that lost the
        // log.
        if (e.incarnation == incarnation) e.missing += number - e.last - 1;
        e.incarnation = incarnation;
        e.last = number;
        return true;
    }
    const entry& at(int w) const { return entries_.at(static_cast<std::size_t>(w)); }
    std::vector<entry> entries() const { return entries_; }
    /// Of a checkpoint. Entries of workers that this job does not have are left out.
    void restore(const std::vector<entry>& e) {
        for (std::size_t i = 0; i < e.size() && i < entries_.size(); ++i) entries_[i] = e[i];
    }

private:
    std::vector<entry> entries_;
};

} // namespace sinter::parameter_servers
