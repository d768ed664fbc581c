// SPDX-License-Identifier: BSL-1.0
#pragma once
#include <memory>
#include <sinter/collective/algorithm.hpp>
#include <sinter/collective/engine.hpp>

namespace sinter::inline SINTER_ORDINARY::collective {

/// An algorithm over a transport.
class transport_engine final : public engine {
public:
    /// `piece`: the most bytes of a piece. Large ones cost less each, small ones are passed on
    /// sooner and stay in the cache.
    transport_engine(algorithm a, std::unique_ptr<transport> t, std::int64_t piece = 256 << 10)
        : algorithm_(a), transport_(std::move(t)),
          workshop_(*transport_, std::min(piece, transport_->largest_piece())) {}

    void perform(const operation& o, std::int64_t number, void* data, std::int64_t n) override {
        collective::perform(algorithm_, workshop_, {o, number, static_cast<std::byte*>(data), n});
    }
    /// Returns when all have come and mean the same operation; else throws. No data.
    void agree(const job& j) { tree_barrier(workshop_, j); }

private:
    algorithm algorithm_;
    std::unique_ptr<transport> transport_;
    workshop workshop_;
};

}   // namespace sinter::inline SINTER_ORDINARY::collective
