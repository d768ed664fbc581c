// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/base/cluster_error.hpp>
#include <sinter/net/archive.hpp>

/// What members send each other on their control connections. The kind of a message is the
/// `operation` of its frame.
namespace sinter::inline SINTER_ORDINARY::wire::message {

enum class kind : std::uint32_t { heartbeat = 1, failure, stop, leave, exchange, ready, start, roster, dial };

/// "I live, and this is what I do."
struct heartbeat {
    std::int64_t step = -1;
    std::uint64_t progress = 0;   // how often progress() was called
    double idle = 0;              // seconds since it was called last
    std::string operation;
    template <class A>
    void serialize(A& a, unsigned) { a & step & progress & idle & operation; }
};

/// The first error of a job.
struct failure {
    std::int32_t rank = -1;
    std::int64_t step = -1;
    std::string role, address, operation, cause;
    template <class A>
    void serialize(A& a, unsigned) { a & rank & step & role & address & operation & cause; }

    static failure of(const cluster_error& e) {
        constexpr std::size_t most = 4000;   // texts of users may be long
        return {e.rank(), e.step(), e.role(), e.address(), e.operation().substr(0, most), e.cause().substr(0, most)};
    }
    cluster_error error() const {
        return {rank, role, address, operation, step, cause.empty() ? "a member failed and gave no cause" : cause};
    }
};

/// "Let us all stop."
struct stop {
    std::string reason;
    template <class A>
    void serialize(A& a, unsigned) { a & reason; }
};

/// "I have done my part and go."
struct leave {
    std::int64_t step = -1;
    template <class A>
    void serialize(A& a, unsigned) { a & step; }
};

/// One member's part of an exchange.
struct exchange {
    std::uint64_t number = 0;
    std::string what, bytes;
    template <class A>
    void serialize(A& a, unsigned) { a & number & what & bytes; }
};

/// "My connections to all others stand" (to rank 0), and its answer: "so do everybody's: go."
struct nothing {
    template <class A>
    void serialize(A&, unsigned) {}
};

/// Where the members listen, by rank, from rank 0, which alone was known to all.
struct roster {
    std::vector<std::string> addresses;
    template <class A>
    void serialize(A& a, unsigned) { a & addresses; }
};

/// "Make the further connection of this number between us", to the member of higher rank, which dials.
struct dial {
    std::uint32_t number = 0;
    template <class A>
    void serialize(A& a, unsigned) { a & number; }
};

} // namespace sinter::wire::message
