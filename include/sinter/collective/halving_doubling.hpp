// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/connection.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// multi_worker<halving_doubling>: as much is sent as by the ring, in 2 log P rounds and over
/// connections between many pairs: best for small models and many members.
struct halving_doubling {
    SINTER_APART static std::unique_ptr<collective::communicator> connect(const cluster&, const wire::identity&);
};

}   // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <sinter/collective/tcp.hpp>

namespace sinter::inline SINTER_ORDINARY {
SINTER_APART std::unique_ptr<collective::communicator> halving_doubling::connect(const cluster& who,
                                                                                 const wire::identity& same) {
    return collective::connect_tcp(collective::algorithm::halving_doubling, who, same);
}
}   // namespace sinter::inline SINTER_ORDINARY
#endif
