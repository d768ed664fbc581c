// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <sinter/collective/nccl_engine.hpp>

namespace sinter::inline SINTER_TARGET {

/// multi_worker<nccl>: processes with a GPU each, whose gradients NCCL sums. They meet over TCP as
/// others do, and NCCL's id travels over that connection.
struct nccl {
    static std::unique_ptr<collective::communicator> connect(const cluster& who, const wire::identity& same) {
        const auto m = std::make_shared<collective::net_membership>(who, same);
        return std::make_unique<collective::queued_communicator>(
            m, std::make_unique<collective::watched_engine>(m, std::make_unique<collective::nccl_engine>(m)));
    }
};

}   // namespace sinter::inline SINTER_TARGET
