// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/connection.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// multi_worker<ring>: gradients go around a ring of TCP connections. Each member sends the least
/// possible, 2 (P - 1) / P of the gradients, in 2 (P - 1) rounds: best for large models.
struct ring {
    SINTER_APART static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&);
};

}   // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <sinter/collective/tcp.hpp>

namespace sinter::inline SINTER_ORDINARY {
SINTER_APART std::unique_ptr<collective::communicator> ring::connect(const cluster& who, const wire::identity& same) {
    return collective::connect_tcp(collective::algorithm::ring, who, same);
}
}   // namespace sinter::inline SINTER_ORDINARY
#endif
