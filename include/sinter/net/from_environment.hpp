// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/net/cluster.hpp>

namespace sinter::inline SINTER_ORDINARY {

/// What a program's own arguments say of its cluster: all addresses and this process's rank, or
/// where rank 0 listens, this process's rank and the number of ranks; or nothing.
struct cluster_arguments {
    std::vector<std::string> addresses;   ///< "host:port" of each rank
    std::string master;                   ///< "host:port" of rank 0
    int rank = -1;                        ///< -1: not given
    int size = 0;                         ///< 0: not given
};

} // namespace sinter::inline SINTER_ORDINARY

#if SINTER_BODIES
#include <sinter/net/roster/found.hpp>
#endif
